/* pairs.h - matches the sends of a rank with the receives of its peer. */
#ifndef MERGE_PAIRS_H
#define MERGE_PAIRS_H

#include "members.h"

/* Fills c->pairs with the messages that are certain (pairs.c). Returns false if memory runs out. */
bool pairs_take(struct merge_collectives *c, const struct align_anchors *anchors, const struct members_clocks *clocks);

#endif
