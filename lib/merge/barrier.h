/* barrier.h - aligns clocks by a barrier. All ranks left the barrier at the same instant, and each rank recorded the time by
 * its own clock.
 *
 * Composer writes it as metadata: composer/profiler/json_trace_handler.py. */
#ifndef MERGE_BARRIER_H
#define MERGE_BARRIER_H

#include "align/report.h"

/* Finds the barrier of an input. `later`: shift of its times, in ns. */
void barrier_find(struct align_input *input, const struct tk_trace *t, int64_t later);
/* Sets the offsets of all inputs so that their barriers are simultaneous. Returns false if an input has no barrier, or if some
 * host has several ranks, which share a clock. */
bool barrier_apply(struct align_input *inputs, size_t n);

#endif
