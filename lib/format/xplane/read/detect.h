/* detect.h - recognises an XSpace. */
#ifndef FORMAT_XPLANE_READ_DETECT_H
#define FORMAT_XPLANE_READ_DETECT_H

#include "format/xplane/xplane.h"

/* Returns how many bits of an XSpace's structure the first bytes of a file match. */
unsigned xplane_bid(const uint8_t *p, size_t n);

#endif
