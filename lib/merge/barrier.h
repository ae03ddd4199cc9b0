/* barrier.h - aligns clocks by an instant that a program recorded in each rank as metadata: a barrier that all ranks left
 * together, by their own clocks, or ts 0 by the clock of the host. The rows in barrier.c name the programs. */
#ifndef MERGE_BARRIER_H
#define MERGE_BARRIER_H

#include "align/report.h"

/* Finds the barrier of an input. `later`: shift of its times, in ns. */
void barrier_find(struct align_input *input, const struct tk_trace *t, int64_t later);
/* Sets the offsets of all inputs so that their instants are simultaneous. Returns false if an input has none, if barriers are
 * those of ranks of one host, which share a clock, or if starts are those of several hosts. */
bool barrier_apply(struct align_input *inputs, size_t n);

#endif
