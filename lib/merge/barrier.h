/* barrier.h - clocks from a barrier that a program recorded in each rank: an instant that all ranks left together, by their own clocks.
 *
 * Composer writes it as metadata: composer/profiler/json_trace_handler.py. */
#ifndef MERGE_BARRIER_H
#define MERGE_BARRIER_H

#include "align/report.h"

/* Finds the barrier of an input, which shifts its times by `later` ns. */
void barrier_find(struct align_input *input, const struct tk_trace *t, int64_t later);
/* Gives all inputs the offset that makes their barriers one instant. False if an input has none, or if several are ranks of one host,
 * which share a clock. */
bool barrier_apply(struct align_input *inputs, size_t n);

#endif
