/* hypotheses.h - enumerates the plausible ways to pair the collectives of a clock with those of the common timeline
 * (posterior.h). There are many possible shifts, so each shift is first tried on a few pairs. */
#ifndef ALIGN_SOLVE_HYPOTHESES_H
#define ALIGN_SOLVE_HYPOTHESES_H

#include "posterior.h"

/* Enumerates all hypotheses without weighing them. Returns false when memory runs out. */
bool hypotheses_find(struct hypotheses *h, struct arena *arena);

/* Writes every stride-th point of a hypothesis, by time; only pairs of barriers count. Returns their number. */
uint32_t hypotheses_points(const struct hypotheses *h, const struct hypothesis *y, uint32_t stride, struct point *out);

#endif
