/* flow.h - writes flow points, as one of two stats. */
#ifndef FORMAT_XPLANE_WRITE_FLOW_H
#define FORMAT_XPLANE_WRITE_FLOW_H

#include "writer.h"

/* Computes g->flows. New flow ids begin at `next` and are `step` apart. Returns the next free id. */
int64_t xplane_link_events(struct xplane_graph *g, int64_t next, uint32_t step, struct mem *mem);

/* Appends the text of the stat "tracekit.flows". Returns false if no point of the plane belongs in this stat. */
bool xplane_put_flow_points(struct xplane_encoder *e, struct buf *text);

/* Counts the points that are written, and the points that neither stat can contain. */
void xplane_count_flow_points(struct sink *sink, const struct xplane_graph *g);

#endif
