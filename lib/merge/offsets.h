/* offsets.h - reads clock offsets from a report that merge --align-report or another tool wrote. */
#ifndef MERGE_OFFSETS_H
#define MERGE_OFFSETS_H

#include "align/solve/solve.h"

struct merge_offset {
  const char *host;   /* name of the host or of an input; "" = neither is in the report */
  const int64_t *ranks;
  uint32_t n_ranks;   /* 0 = the report has no ranks for this entry */
  struct align_map map;
};

struct merge_offsets {
  struct arena arena; /* memory; the caller owns it */
  struct merge_offset *v;
  uint32_t n, cap;
};

/* Reads a report: {"hosts": [{"host": "node3", "ranks": [24, 25], "offset_ns": 1500, "at_ns": 17e17, "drift_ppm": 1.5, "pieces":
 * [...]}]}. The host's clock was ahead by offset_ns when it showed at_ns. Required are offset_ns, and at least one of host and ranks.
 * The object may be the member "align" of the file or of its member "tracekit", as in the metadata of a merged trace. Returns false
 * with err on failure. */
bool merge_offsets_read(struct merge_offsets *o, const char *path, struct tk_err *err);
void merge_offsets_free(struct merge_offsets *o);

/* Returns the map of an input: by rank if the report's entry has ranks, otherwise by the name of the host or the input. NULL if
 * the report does not contain the input. */
const struct align_map *merge_offsets_of(const struct merge_offsets *o, const char *host, const char *input, int64_t rank);

#endif
