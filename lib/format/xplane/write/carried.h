/* carried.h - writes the event-free XSpace that other formats embed. */
#ifndef FORMAT_XPLANE_WRITE_CARRIED_H
#define FORMAT_XPLANE_WRITE_CARRIED_H

#include "writer.h"

/* Adds the block's description of the plane that is written next. */
void xplane_carry_plane(struct xplane_sink *s, struct xplane_encoder *e);

/* The same for the planes of a part, which follow those already written. Returns false if the part is damaged. */
bool xplane_take_carried(struct xplane_sink *s, struct pb blocks);

/* The same for file-wide data; its stats and their names are in the sink. Returns false if there is no block. */
bool xplane_end_carried(struct xplane_sink *s, const struct tk_trace *first);

/* True if the graph is exactly what the reader made of the embedded XSpace. */
bool xplane_is_pristine(const struct xplane_graph *g, struct mem *mem);

#endif
