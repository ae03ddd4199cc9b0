/* measure.h - of a heap of intervals: how much time they cover together, and which duration stands at a place of the order. */
#ifndef ANALYSIS_MEASURE_H
#define ANALYSIS_MEASURE_H

#include "graph/trace.h"

struct interval {
  tk_time start; /* INT64_MIN: lost its clock, covers nothing */
  tk_time dur;
};

/* The k-th shortest duration, k from 0 to n - 1.  `room` is for n times. */
tk_time measure_kth(const struct interval *v, uint64_t n, uint64_t k, tk_time *room);

/* The time in which at least one of them runs.  They stand in runs, each in the order of starts: the events of one track after those
 * of another.  Overwrites them; `room` is for n more. */
tk_time measure_union(struct interval *v, uint64_t n, struct interval *room);

#endif
