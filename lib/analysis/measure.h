/* measure.h - computes the total time that intervals cover, and their k-th shortest duration. */
#ifndef ANALYSIS_MEASURE_H
#define ANALYSIS_MEASURE_H

#include "op/window.h"

struct interval {
  tk_time start; /* INT64_MIN: unknown (event without a clock); the interval then covers no time */
  tk_time dur;
};

/* Returns the overlap of [start, end) with the window; its length is 0 if there is none. */
static inline struct interval measure_part(const struct window *w, tk_time start, tk_time end) {
  if (start < w->start) start = w->start;
  if (end > w->end) end = w->end;
  return (struct interval){start, end > start ? end - start : 0};
}

/* Statistics of durations: nearest-rank percentiles, and a mean that is rounded to a picosecond. */
struct durations {
  tk_time min, max, mean, p50, p95;
};

/* Measures the durations of n intervals, without the `left_out` shortest ones. The durations left out must be 0, and there must
 * be fewer than n of them. `room` has space for n times. */
struct durations measure_durations(const struct interval *v, uint64_t n, uint64_t left_out, tk_time *room);

/* Returns the k-th shortest duration, k from 0 to n - 1. `room` has space for n times. */
tk_time measure_kth(const struct interval *v, uint64_t n, uint64_t k, tk_time *room);

/* Returns the total time that the intervals cover. The intervals must consist of runs that are sorted by start, one per track.
 * Overwrites the intervals; `room` has space for n more. */
tk_time measure_union(struct interval *v, uint64_t n, struct interval *room);

/* A growing list of intervals, in the order that measure_union requires. */
struct intervals {
  struct interval *v;
  uint32_t n, cap;
};

/* Appends an interval. Returns false if memory runs out. */
bool measure_add(struct intervals *to, struct interval x, struct mem *mem);
/* Returns the total time that the intervals cover, and frees the list. Sets *ok to false if memory runs out. */
tk_time measure_join(struct intervals *of, struct mem *mem, bool *ok);

#endif
