/* messages.h - bounds the clock of a host that shares only messages with other hosts. */
#ifndef ALIGN_SOLVE_MESSAGES_H
#define ALIGN_SOLVE_MESSAGES_H

#include "posterior.h"

struct messages {
  uint32_t *partner;  /* by sight (recorded collective) of the host: index of its partner on the common timeline; ALIGN_NONE = none */
  uint32_t n;         /* number of pairs */
  double low, high;   /* ns: bounds of the offset, relative to the pivots */
  double first, last; /* readings of the clock for the first and the last pair */
  double mass, all;   /* weight of the best shift; weight of all alternatives including the best; not normalised */
  uint32_t steps;
  bool stepped;       /* messages are identified by step, not only by order */
  bool whole;         /* true: for each label, both sides recorded the same number of messages */
};

/* Computes bounds from messages in both directions; out->n = 0 if there are none. Returns false when memory runs out. */
bool messages_find(const struct question *q, const struct timeline *common, struct sight *host, uint32_t n, struct arena *arena,
                   struct messages *out);

#endif
