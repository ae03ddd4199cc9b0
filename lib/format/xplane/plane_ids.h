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

struct xplane_plane_ids {
  struct map taken[XPLANE_KINDS];
  int64_t next[XPLANE_KINDS]; /* below are none that are free */
};

void xplane_ids_init(struct xplane_plane_ids *ids, struct mem *mem);
void xplane_ids_free(struct xplane_plane_ids *ids);
/* False: a plane of that kind has the id already. */
bool xplane_take_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);
/* The smallest from 0 that no plane of that kind has. */
int64_t xplane_least_id(struct xplane_plane_ids *ids, enum xplane_kind kind);
/* Takes the id, or the smallest that is free. */
int64_t xplane_some_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id);

#endif
