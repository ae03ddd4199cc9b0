/* line.h - reads the lines of a plane. */
#ifndef FORMAT_XPLANE_READ_LINE_H
#define FORMAT_XPLANE_READ_LINE_H

#include "reader.h"

/* Reads a line and its events. */
enum pb_status xplane_read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, struct xplane_extent extent);

#endif
