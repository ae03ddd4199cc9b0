/* report_index.h - lookups for each device of a trace: streams, tracks of the same rank, steps.
 *
 * A trace may have as many devices as events, so that a search for each device would be quadratic: one pass finds everything.
 */
#ifndef ANALYSIS_REPORT_INDEX_H
#define ANALYSIS_REPORT_INDEX_H

#include "work.h"

/* Steps of one track: match.steps.v[first .. first + n - 1]. */
struct report_steps {
  uint32_t first, n, rank; /* rank: preference among tracks, higher is better; 0 = no steps */
};

/* Host sums of a rank, shared by all its devices. */
struct report_host_sums {
  uint64_t events, runtime_calls, host_ops, host_only_ops, compilations;
  tk_time host_only, compile;
  bool made;
};

struct report_index {
  struct mem *mem;
  uint32_t *group_of;    /* by track: number of its rank and host, from 0 */
  uint32_t n_groups;
  uint32_t *tracks_at;   /* by group, n_groups + 1 elements: start of its tracks in `tracks` */
  tk_id *tracks;
  uint32_t *streams_at;  /* by row of works, n_rows + 1 elements: start of its streams in `streams` */
  uint32_t *streams;     /* indices of works.streams */
  struct report_steps *steps, *own_steps; /* steps of the group's host; steps of planes, found by `own_of` */
  struct map own_of;     /* process << 32 | group -> index in own_steps */
  uint32_t n_own, cap_own;
  struct report_host_sums *hosts; /* by group */
  bool *has_row;         /* by group: true if the report has a row for it */
};

/* False if memory runs out. */
bool report_index_make(struct report_index *x, const struct match *m, const struct works *w, struct mem *mem);
void report_index_free(struct report_index *x);
/* Returns the steps of a device's rank: on a line of the device itself, else on the host track with the most steps.  process:
 * the device's process; 0 = none. */
struct report_steps report_index_steps(const struct report_index *x, uint32_t group, tk_id process);

#endif
