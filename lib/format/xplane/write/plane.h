/* plane.h - writes one plane. */
#ifndef FORMAT_XPLANE_WRITE_PLANE_H
#define FORMAT_XPLANE_WRITE_PLANE_H

#include "writer.h"

/* Counts bytes of the file; returns false with err if it exceeds what protobuf can read. */
bool xplane_grow(struct xplane_sink *s, uint64_t n, struct tk_err *err);

/* Writes a plane that was read from XPlane. */
bool xplane_write_known(struct xplane_sink *s, const struct xplane_graph *g, const struct xplane_plane *plane,
                        struct tk_err *err);

/* Assigns row ids to the processes from other formats, by sort index; these rows are after those of earlier graphs. Returns
 * false when memory runs out. */
bool xplane_order_rows(struct xplane_sink *s, struct xplane_graph *g);

/* Writes a process from another format; xplane_order_rows must have been called. */
bool xplane_write_new(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct tk_err *err);

/* Writes a plane with this name and the stats in `stats`, whose names are in e->new_stats; writes nothing if there are none. */
bool xplane_write_stats(struct xplane_sink *s, struct xplane_encoder *e, const char *name, const struct buf *stats,
                        struct tk_err *err);

#endif
