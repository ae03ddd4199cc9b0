/* one_way.h - which collective of the common timeline is each broadcast and each message of a host whose barriers are matched?
 *
 * They bound clocks and fit nothing, so they come after the barriers have said where the clock stands. */
#ifndef ALIGN_ONE_WAY_H
#define ALIGN_ONE_WAY_H

#include "posterior.h"

/* Sets `collective` of those of the host's n sights that have a partner.  False when memory runs out. */
bool one_way_match(const struct timeline *common, struct sight *v, uint32_t n, const struct question *q, const struct hypothesis *best,
                   struct arena *arena);

#endif
