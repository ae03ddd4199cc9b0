/* offsets.h - clock offsets from a report that merge --align-report wrote, or that was made elsewhere. */
#ifndef MERGE_OFFSETS_H
#define MERGE_OFFSETS_H

#include "align/solve/solve.h"

struct merge_offset {
  const char *host;   /* host name, or name of an input; "" = not given */
  const int64_t *ranks;
  uint32_t n_ranks;   /* 0 = not given */
  struct align_map map;
};

struct merge_offsets {
  struct arena arena; /* memory owned by the caller */
  struct merge_offset *v;
  uint32_t n, cap;
};

/* Reads a report: {"hosts": [{"host": "node3", "ranks": [24, 25], "offset_ns": 1500, "at_ns": 17e17, "drift_ppm": 1.5,
 * "pieces": [...]}]}. The host's clock was ahead by offset_ns at at_ns. Required are offset_ns, and host or ranks. The object
 * may also be nested in "align", or in "align" in "tracekit", as in the metadata of a merged trace. */
bool merge_offsets_read(struct merge_offsets *o, const char *path, struct tk_err *err);
void merge_offsets_free(struct merge_offsets *o);

/* Returns the map of an input: by rank if the report's entry has ranks, else by the name of the host or the input. NULL = not
 * in the report. */
const struct align_map *merge_offsets_of(const struct merge_offsets *o, const char *host, const char *input, int64_t rank);

#endif
