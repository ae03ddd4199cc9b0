/* report_index.h - lookups for each device of a trace: streams, tracks of the same rank, steps.
 *
 * The index is built in one pass over the trace. A trace can have as many devices as events, so searching the trace for each device
 * would take quadratic time. */
#ifndef ANALYSIS_REPORT_INDEX_H
#define ANALYSIS_REPORT_INDEX_H

#include "host_time.h"
#include "measure.h"
#include "work.h"

/* Garbage collections, sorted by start (report_collections_end). */
struct report_collections {
  struct report_collection {
    tk_time start;
    struct interval own; /* the part of the collection that no earlier collection covers */
  } *v;
  uint32_t n, cap;
};

/* Sums over the host events of a rank, shared by all devices of the rank. */
struct report_host_sums {
  uint64_t events, runtime_calls, host_ops, host_only_ops, compilations;
  /* this line and the next have the same meaning as in struct tk_report_rank */
  uint64_t syncs, syncs_in_steps, host_steps, collections, launch_calls, unrecorded, trailing, long_ops;
  tk_time sync_in_steps, host_only, compile, collecting, collection_max, collection_at;
  uint64_t compiled_frames, recompilations, module_recompilations;
  const char *recompiled_module; /* NULL = none */
  tk_time profiler, profiler_max, profiler_at;
  tk_time settled; /* end of the first call that waits for all work of a device; INT64_MAX = none */
  tk_time lost;    /* start of the first launching call whose work was not recorded; INT64_MAX = none */
  struct report_collections collected;
  struct host_time time;
  struct host_time captures; /* times in which the host recorded graphs (report_captures.c) */
  bool made;
};

struct report_index {
  struct mem *mem;
  uint32_t *group_of;    /* by track: number of its group, from 0; a group is a rank of a host */
  uint32_t n_groups;
  uint32_t *tracks_at;   /* by group, n_groups + 1 elements: index of its first track in `tracks` */
  tk_id *tracks;
  uint32_t *streams_at;  /* by row of works, n_rows + 1 elements: index of its first stream in `streams` */
  uint32_t *streams;     /* indices of works.streams */
  struct steps_run *steps; /* by group: steps of its host */
  struct report_host_sums *hosts; /* by group: sums over its host events */
  bool *has_row;         /* by group: true if the report has a row for it */
};

/* Builds the index. Returns false if memory runs out. */
bool report_index_make(struct report_index *x, const struct match *m, const struct works *w, struct mem *mem);
void report_index_free(struct report_index *x);
/* Returns the steps of a device: the steps on a line of the device itself or, if there are none, the steps of its host.
 * `track`: a track of the device; 0 = no device. */
struct steps_run report_index_steps(const struct report_index *x, const struct match *m, uint32_t group, tk_id track);

#endif
