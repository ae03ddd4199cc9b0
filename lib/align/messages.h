/* messages.h - where may a clock stand that has only messages in common with the others? */
#ifndef ALIGN_MESSAGES_H
#define ALIGN_MESSAGES_H

#include "posterior.h"

struct messages {
  uint32_t *partner;  /* by sight of the host: which of the common timeline, ALIGN_NONE = none */
  uint32_t n;         /* pairs */
  double low, high;   /* ns: of the offset, between the pivots */
  double first, last; /* readings of the first and the last one */
  double mass, all;   /* how probable the best shift is, and all that may be instead with it, not made to sum to 1 */
  uint32_t steps;
  bool stepped;       /* they are told apart by steps, not by their order alone */
  bool whole;         /* all of a kind have a partner */
};

/* Bounds from messages both ways; n = 0: there are none.  False when memory runs out. */
bool messages_find(const struct question *q, const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena,
                   struct messages *out);

#endif
