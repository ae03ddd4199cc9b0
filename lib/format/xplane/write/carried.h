/* carried.h - writes the event-free XSpace that other formats embed. */
#ifndef FORMAT_XPLANE_WRITE_CARRIED_H
#define FORMAT_XPLANE_WRITE_CARRIED_H

#include "writer.h"

/* Adds a description of the next plane to the block. Call before the plane is written. */
void xplane_carry_plane(struct xplane_sink *s, struct xplane_encoder *e);

/* Adds the descriptions of the planes of a part, which follow the planes written before. Returns false if the part is
 * damaged. */
bool xplane_take_carried(struct xplane_sink *s, struct pb blocks);

/* Adds file-wide data; its stats and their names are in the sink. Returns false if there is no block. */
bool xplane_end_carried(struct xplane_sink *s, const struct tk_trace *first);

/* True if the graph is unchanged since the embedded XSpace was read into it. */
bool xplane_is_pristine(const struct xplane_graph *g, struct mem *mem);

#endif
