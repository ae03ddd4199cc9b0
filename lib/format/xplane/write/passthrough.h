/* passthrough.h - writes those fields of a plane that the graph cannot represent. */
#ifndef FORMAT_XPLANE_WRITE_PASSTHROUGH_H
#define FORMAT_XPLANE_WRITE_PASSTHROUGH_H

#include "writer.h"

/* For a graph that an operation changed: collects the data to which the remaining events refer. */
void xplane_prune_init(struct xplane_graph *g, bool bare, struct mem *mem);
void xplane_prune_free(struct xplane_graph *g);

/* Appends the plane's original fields except id, name, lines and private stats; must be called after the lines have been
 * measured.
 */
void xplane_put_passthrough(struct xplane_encoder *e, struct buf *plane);

#endif
