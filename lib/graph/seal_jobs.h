/* seal_jobs.h - runs the parts of sealing that concern single tracks on several threads.
 *
 * The tracks are divided into ranges of about equal size. The results of the ranges are added in the order of the tracks, so
 * they do not depend on the number of threads. */
#ifndef GRAPH_SEAL_JOBS_H
#define GRAPH_SEAL_JOBS_H

#include "trace.h"

/* A job; the first member of the structure that describes it. */
struct seal_job {
  void (*run)(struct seal_job *job);
};

/* The threads of a call of seal. */
struct seal_threads {
  struct jobs *jobs; /* NULL = the caller's thread only */
  unsigned n;        /* including the caller's */
};

/* Starts up to n - 1 threads, unless the trace is so small that they would not pay. */
struct seal_threads seal_threads_start(const struct tk_trace *t, unsigned n);
void seal_threads_stop(struct seal_threads *threads);

/* Tracks first .. last, and the memory for work on them: the trace's account if there is one range, else an account of its own. */
struct seal_range {
  tk_id first, last;
  uint32_t n_events;
  uint32_t most; /* maximum number of events of a track */
  struct mem *mem, own;
};

enum { SEAL_RANGES = 32 };

/* Divides the tracks into ranges, at most SEAL_RANGES. The work needs at most `per_event` bytes per event: if the trace's limit does
 * not allow as much, or if `together` is true, there is one range. Returns their number, which is 0 if there are no tracks. */
unsigned seal_ranges(struct tk_trace *t, const struct seal_threads *threads, bool together, unsigned per_event,
                     struct seal_range ranges[SEAL_RANGES]);
/* Adds what the range allocated to the trace's account. Returns false if its memory has run out. */
bool seal_range_end(struct tk_trace *t, struct seal_range *range);

#endif
