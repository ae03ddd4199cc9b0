/* plane_ids.h - assigns ids to planes, by which xprof distinguishes planes of the same kind. */
#ifndef FORMAT_XPLANE_PLANE_IDS_H
#define FORMAT_XPLANE_PLANE_IDS_H

#include "base/map.h"
#include "base/text.h"

/* Kinds of planes: OTHER is not shown by viewers, DEVICE is a GPU or TPU, CUSTOM is drawn like a device, HOST is the host. */
enum xplane_kind { XPLANE_OTHER, XPLANE_DEVICE, XPLANE_CUSTOM, XPLANE_HOST, XPLANE_KINDS };

/* Returns the kind of a plane, which follows from the beginning of its name. */
enum xplane_kind xplane_plane_kind(const char *name);

/* True if a process that was read from another format has the name of an XPlane plane. */
static inline bool xplane_is_native(const char *name) { return text_begins(name, "/host:CPU") || text_begins(name, "/device:"); }

enum { XPLANE_ROWS = 199 }; /* number of planes that xprof sorts by id */

struct xplane_plane_ids {
  struct map taken[XPLANE_KINDS];
  int64_t next[XPLANE_KINDS]; /* all lower ids are in use */
  uint32_t step; /* distance between ids; 0 = 1 */
  int64_t row, last_row; /* range of row ids left for this graph, if there are several graphs */
};

void xplane_ids_init(struct xplane_plane_ids *ids, struct mem *mem);
/* Ids reserved for the next graph: first, first + step and so on; for rows, `rows` consecutive ids from first_row on.
 * xplane_ids_turn restricts new ids to these, and forgets which ids are in use. */
struct xplane_turn {
  uint32_t first, step, first_row, rows;
};
void xplane_ids_turn(struct xplane_plane_ids *ids, struct xplane_turn turn, struct mem *mem);
void xplane_ids_free(struct xplane_plane_ids *ids);
/* Reserves the id. Returns false if another plane of this kind has it. */
bool xplane_take_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);
/* Returns the smallest id that no plane of that kind has. */
int64_t xplane_least_id(struct xplane_plane_ids *ids, enum xplane_kind kind);
/* Reserves the id, or if it is taken, the smallest free id. Returns the reserved id. */
int64_t xplane_some_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);

#endif
