/* private.h - reads the private data of our writer, so that converting Chrome JSON to XPlane and back restores the original. */
#ifndef FORMAT_XPLANE_READ_PRIVATE_H
#define FORMAT_XPLANE_READ_PRIVATE_H

#include "reader.h"

/* Restores properties of tracks that planes and lines cannot represent, the zero of time, and the top-level data. */
void xplane_restore(struct xplane_reader *r);

#endif
