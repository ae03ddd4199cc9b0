/* plane_ids.h - ids of planes: xprof tells those of one kind apart by them. */
#ifndef FORMAT_XPLANE_PLANE_IDS_H
#define FORMAT_XPLANE_PLANE_IDS_H

#include "base/map.h"
#include "base/text.h"

/* GPUs and TPUs; what is drawn like one; the host; what no viewer shows. */
enum xplane_kind { XPLANE_OTHER, XPLANE_DEVICE, XPLANE_CUSTOM, XPLANE_HOST, XPLANE_KINDS };

/* By how the name of the plane begins. */
enum xplane_kind xplane_plane_kind(const char *name);

/* Is the name XPlane's own, by way of another format? */
static inline bool xplane_is_native(const char *name) { return text_begins(name, "/host:CPU") || text_begins(name, "/device:"); }

enum { XPLANE_ROWS = 199 }; /* that xprof orders by their ids */

struct xplane_plane_ids {
  struct map taken[XPLANE_KINDS];
  int64_t next[XPLANE_KINDS]; /* below are none that are free */
  uint32_t step; /* 0: 1 */
  int64_t row, last_row; /* of one of several graphs: the ids of rows that are left */
};

void xplane_ids_init(struct xplane_plane_ids *ids, struct mem *mem);
/* Ids are first, first + step and so on from here on, and those that were taken are forgotten; but of rows those from first_row on,
 * as many as there are. */
struct xplane_turn {
  uint32_t first, step, first_row, rows;
};
void xplane_ids_turn(struct xplane_plane_ids *ids, struct xplane_turn turn, struct mem *mem);
void xplane_ids_free(struct xplane_plane_ids *ids);
/* False: a plane of that kind has the id already. */
bool xplane_take_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);
/* The smallest that no plane of that kind has. */
int64_t xplane_least_id(struct xplane_plane_ids *ids, enum xplane_kind kind);
/* Takes the id, or the smallest that is free. */
int64_t xplane_some_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);

#endif
