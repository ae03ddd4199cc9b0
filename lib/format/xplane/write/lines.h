/* lines.h - writes the lines of a plane. */
#ifndef FORMAT_XPLANE_WRITE_LINES_H
#define FORMAT_XPLANE_WRITE_LINES_H

#include "writer.h"

/* xplane_choose_lines chooses the lines of the plane and their order; xplane_measure_lines computes their sizes. Both return
 * false when memory runs out or the caller wants to stop (e->pace). */
bool xplane_choose_lines(struct xplane_encoder *e);
bool xplane_measure_lines(struct xplane_encoder *e);
uint64_t xplane_lines_size(const struct xplane_encoder *e);

/* Writes the lines as fields of the plane. Returns false if the caller wants to stop. */
bool xplane_put_lines(struct xplane_encoder *e, struct out *out);

#endif
