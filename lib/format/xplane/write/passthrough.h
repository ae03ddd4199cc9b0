/* passthrough.h - writes the fields of a plane that the graph does not model. */
#ifndef FORMAT_XPLANE_WRITE_PASSTHROUGH_H
#define FORMAT_XPLANE_WRITE_PASSTHROUGH_H

#include "writer.h"

/* For a graph that an operation changed: collects what the remaining events refer to. */
void xplane_prune_init(struct xplane_graph *g, bool bare, struct mem *mem);
void xplane_prune_free(struct xplane_graph *g);

/* Appends the plane's original fields except id, name, lines and private stats; to be called when the lines have been measured.
 */
void xplane_put_passthrough(struct xplane_encoder *e, struct buf *plane);

#endif
