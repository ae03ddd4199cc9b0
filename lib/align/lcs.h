/* lcs.h - the longest common subsequence of two lists of labels. */
#ifndef ALIGN_LCS_H
#define ALIGN_LCS_H

#include "base/mem.h"

struct lcs {
  const uint64_t *a, *b;
  uint32_t n_a, n_b;
};

/* partner[i]: which of a stands for b[i], UINT32_MAX = none.  False when memory runs out; takes n_a x n_b x 2 bytes for what both
 * lists do not begin and end with. */
bool lcs(struct arena *arena, const struct lcs *l, uint32_t *partner);

#endif
