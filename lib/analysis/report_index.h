/* report_index.h - what a report looks up for each device of a trace: streams, tracks of the same rank, steps.
 *
 * A trace may have as many devices as events, so that nothing may be searched for each of them: all is found in one pass. */
#ifndef ANALYSIS_REPORT_INDEX_H
#define ANALYSIS_REPORT_INDEX_H

#include "work.h"

/* Steps of one track: match.steps.v[first .. first + n - 1]. */
struct report_steps {
  uint32_t first, n, rank; /* rank: the highest is preferred; 0 = there are none */
};

/* What the host of a rank did, the same for each of its devices. */
struct report_host_sums {
  uint64_t events, runtime_calls, host_ops, host_only_ops, compilations;
  tk_time host_only, compile;
  bool made;
};

struct report_index {
  struct mem *mem;
  uint32_t *group_of;    /* by track: number of its rank and host, from 0 */
  uint32_t n_groups;
  uint32_t *tracks_at;   /* by group, n_groups + 1: where its tracks begin in `tracks` */
  tk_id *tracks;
  uint32_t *streams_at;  /* by row of works, n_rows + 1: where its streams begin in `streams` */
  uint32_t *streams;     /* indices of works.streams */
  struct report_steps *steps, *own_steps; /* by group, of its host; of planes, by `own_of` */
  struct map own_of;     /* process << 32 | group -> index in own_steps */
  uint32_t n_own, cap_own;
  struct report_host_sums *hosts; /* by group */
  bool *has_row;         /* by group: the report has a row of it */
};

/* False when memory runs out. */
bool report_index_make(struct report_index *x, const struct match *m, const struct works *w, struct mem *mem);
void report_index_free(struct report_index *x);
/* The steps of a device's rank: on a line of the device itself, or else on the track of its host that has the most.  process: of the
 * device; 0 = of none. */
struct report_steps report_index_steps(const struct report_index *x, uint32_t group, tk_id process);

#endif
