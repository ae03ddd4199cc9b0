/* detect.h - recognises an XSpace. */
#ifndef FORMAT_XPLANE_READ_DETECT_H
#define FORMAT_XPLANE_READ_DETECT_H

#include "format/xplane/xplane.h"

/* Returns how much the first bytes of a file look like an XSpace, in bits of verified structure. */
unsigned xplane_bid(const uint8_t *p, size_t n);

#endif
