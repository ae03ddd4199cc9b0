/* flow.h - writes flow points in two ways. */
#ifndef FORMAT_XPLANE_WRITE_FLOW_H
#define FORMAT_XPLANE_WRITE_FLOW_H

#include "writer.h"

/* Computes g->flows; flow ids begin at `next`, `step` apart. Returns the next id. */
int64_t xplane_link_events(struct xplane_graph *g, int64_t next, uint32_t step, struct mem *mem);

/* Appends the text of the stat "tracekit.flows"; returns false if there is none. */
bool xplane_put_flow_points(struct xplane_encoder *e, struct buf *text);

/* Counts the written points, and points that neither stat contains. */
void xplane_count_flow_points(struct sink *sink, const struct xplane_graph *g);

#endif
