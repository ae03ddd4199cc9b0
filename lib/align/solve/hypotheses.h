/* hypotheses.h - enumerates the plausible ways to pair what a clock saw with the common timeline (posterior.h).  There are
 * many shifts, so each is first tried on a few pairs. */
#ifndef ALIGN_SOLVE_HYPOTHESES_H
#define ALIGN_SOLVE_HYPOTHESES_H

#include "posterior.h"

/* Enumerates all hypotheses without weighing them (hypotheses.c). */
bool hypotheses_find(struct hypotheses *h, struct arena *arena);

/* Writes every stride-th point that a hypothesis pairs, by time, barriers only. Returns their number. */
uint32_t hypotheses_points(const struct hypotheses *h, const struct hypothesis *y, uint32_t stride, struct point *out);

#endif
