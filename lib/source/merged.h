/* merged.h - finds the rank of each process in a trace that another program merged from the traces of several ranks.
 *
 *     SGLang, profile_merger.py             the pid is a string: "[TP01-DP00] 83"
 *     Composer, json_trace_merger.py        a metadata event global_rank for each process
 *     TraceLens, trace_fuse.py              args of all events: "rank", and "pid_raw" with the original pid
 *
 * and in a file whose format records several ranks (format/parts.h), if it was read as a whole. */
#ifndef SOURCE_MERGED_H
#define SOURCE_MERGED_H

#include "graph/trace.h"

/* Sets rank[i] for each process i, by track, to its rank or -1; `rank` has t->n_tracks + 1 elements. Returns the number of different
 * ranks; 0 if there are none or if memory runs out. */
uint32_t merged_ranks(const struct tk_trace *t, int64_t *rank, struct mem *mem);

/* In a trace that another program merged, makes the flow ids of different ranks different. The trace must not be sealed yet; if
 * memory runs out, the trace's budget records it. */
void merged_part_flows(struct tk_trace *t);

/* A metadata event that states the rank of its process. */
struct merged_record {
  tk_id at; /* index among the records; 0 before the first call */
  tk_id track;
  int64_t rank;
};
/* Finds the next metadata event that states the rank of its process, after the one in *r. Returns false after the last one. */
bool merged_next_record(const struct tk_trace *t, struct merged_record *r);

#endif
