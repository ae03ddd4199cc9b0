/* measure.h - measures a set of intervals: the time that they cover together, and the k-th shortest duration. */
#ifndef ANALYSIS_MEASURE_H
#define ANALYSIS_MEASURE_H

#include "graph/trace.h"

struct interval {
  tk_time start; /* INT64_MIN: unknown (event without a clock); the interval then covers no time */
  tk_time dur;
};

/* Returns the k-th shortest duration, k from 0 to n - 1.  `room` has space for n times. */
tk_time measure_kth(const struct interval *v, uint64_t n, uint64_t k, tk_time *room);

/* Returns the time in which at least one interval is running. The intervals consist of runs sorted by start, one for each
 * track. Overwrites the intervals; `room` has space for n more. */
tk_time measure_union(struct interval *v, uint64_t n, struct interval *room);

#endif
