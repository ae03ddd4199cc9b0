/* seal_sweep.h - sorts simultaneous events, matches begin with end events and computes depths, for each track separately. */
#ifndef GRAPH_SEAL_SWEEP_H
#define GRAPH_SEAL_SWEEP_H

#include "base/keyed.h"
#include "seal.h"
#include "seal_jobs.h"

struct sweeper {
  struct seal_job job;
  struct tk_trace *t;
  struct seal_range *range;
  uint32_t *order; /* as in struct sealer */
  bool has_x;      /* true if some span of the trace was a complete event (X) */

  bool ok; /* results: false if memory has run out */
  struct seal_tie_list ties;
  uint32_t n_unmatched, n_late, n_overlaps, n_cut, n_unfinished, n_frames;

  uint32_t *stack;             /* scratch space: the open spans of a track */
  struct keyed *keys, *spare; /* scratch space, large enough for the largest unsorted tie so far */
  uint32_t *in_file;
  uint32_t n_scratch;
};

/* Sweeps over the tracks of a range, whose events are sorted by time. Several threads may sweep over different ranges unless there are
 * end events, which change args that all tracks share. */
void sweep_range(struct seal_job *job);
/* Shortens Python frames that outlast their caller, and sweeps once more over the tracks that have such frames. Returns false when
 * memory runs out. */
bool sweep_frames(struct sweeper *s);

#endif
