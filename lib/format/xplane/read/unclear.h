/* unclear.h - marks events whose metadata other formats would confuse. */
#ifndef FORMAT_XPLANE_READ_UNCLEAR_H
#define FORMAT_XPLANE_READ_UNCLEAR_H

#include "reader.h"

/* Adds the id of their metadata to events of the plane, from `first` on, if other formats would confuse their metadata. */
void xplane_mark_unclear(struct xplane_reader *r, const struct xplane_plane *plane, tk_id first);

#endif
