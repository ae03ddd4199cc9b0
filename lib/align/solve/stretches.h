/* stretches.h - stretches: the readings of a clock for which an offset is claimed, and the gaps between them. */
#ifndef ALIGN_SOLVE_STRETCHES_H
#define ALIGN_SOLVE_STRETCHES_H

#include "posterior.h"

/* Sets the gaps between the stretches of a host, and shortens the outer stretches if collectives outside of them disagree. */
void stretches_limit(struct align_host *o, int64_t pivot_ns, const struct posterior *p);
/* True if the clock may have been set at this reading, in ns from the pivot. */
bool stretches_leave(const struct align_host *o, int64_t pivot_ns, double t);
/* Limits the errors of all stretches to `most` ns. */
void stretches_narrow(struct align_host *o, double most);
/* Widens the errors of all stretches by an independent error of `by` ns. */
void stretches_widen(struct align_host *o, double by);

#endif
