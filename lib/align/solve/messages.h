/* messages.h - bounds the clock of a host that shares only messages with the others. */
#ifndef ALIGN_SOLVE_MESSAGES_H
#define ALIGN_SOLVE_MESSAGES_H

#include "posterior.h"

struct messages {
  uint32_t *partner;  /* by sight of the host: index of the matching sight on the common timeline; ALIGN_NONE = none */
  uint32_t n;         /* pairs */
  double low, high;   /* ns: bounds of the offset between the pivots */
  double first, last; /* readings of the first and the last pair */
  double mass, all;   /* weight of the best shift, and of all alternatives including it; not normalised */
  uint32_t steps;
  bool stepped;       /* messages are identified by steps, not by their order alone */
  bool whole;         /* all messages of one direction have a partner */
};

/* Computes bounds from messages in both directions; n = 0: there are none. Returns false when memory runs out. */
bool messages_find(const struct question *q, const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena,
                   struct messages *out);

#endif
