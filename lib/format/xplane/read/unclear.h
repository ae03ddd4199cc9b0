/* unclear.h - marks events whose metadata other formats would confuse. */
#ifndef FORMAT_XPLANE_READ_UNCLEAR_H
#define FORMAT_XPLANE_READ_UNCLEAR_H

#include "reader.h"

/* Adds an arg with the id of the metadata to each event of the plane, from `first` on, whose metadata other formats would confuse with
 * other metadata. */
void xplane_mark_unclear(struct xplane_reader *r, const struct xplane_plane *plane, tk_id first);

#endif
