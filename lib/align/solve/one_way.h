/* one_way.h - matches each broadcast and message of a host to the common timeline, given the matched barriers.
 *
 * Broadcasts and messages only bound a clock, so they are matched after barriers have placed the clock. */
#ifndef ALIGN_SOLVE_ONE_WAY_H
#define ALIGN_SOLVE_ONE_WAY_H

#include "posterior.h"

/* Sets `collective` of each of the host's n sights that has a partner. Returns false when memory runs out. */
bool one_way_match(const struct timeline *common, struct sight *v, uint32_t n, const struct question *q, const struct hypothesis *best,
                   struct arena *arena);

#endif
