/* private.h - reads the additions of our own writer, so that Chrome JSON -> XPlane -> Chrome JSON restores the original. */
#ifndef FORMAT_XPLANE_READ_PRIVATE_H
#define FORMAT_XPLANE_READ_PRIVATE_H

#include "reader.h"

/* Restores properties of tracks that planes and lines cannot represent, the zero and the top-level data (private.c). */
void xplane_restore(struct xplane_reader *r);

#endif
