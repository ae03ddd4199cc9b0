/* merge_offsets.h - clocks as a report has them: what merge --align-report writes, or one that was made elsewhere. */
#ifndef COMMAND_MERGE_OFFSETS_H
#define COMMAND_MERGE_OFFSETS_H

#include "align/align.h"

struct merge_offset {
  const char *host;   /* or the name of an input; "" = not said */
  const int64_t *ranks;
  uint32_t n_ranks;   /* 0 = not said */
  struct align_map map;
};

struct merge_offsets {
  struct arena arena; /* its memory is the caller's */
  struct merge_offset *v;
  uint32_t n, cap;
};

/* {"hosts": [{"host": "node3", "ranks": [24, 25], "offset_ns": 1500, "at_ns": 17e17, "drift_ppm": 1.5, "pieces": [...]}]}: a host's
 * clock was ahead by offset_ns at at_ns.  All but offset_ns may be missing, but one of host and ranks.  Or such an object under
 * "align", or that under "tracekit": in the metadata of a merged trace. */
bool merge_offsets_read(struct merge_offsets *o, const char *path, struct tk_err *err);
void merge_offsets_free(struct merge_offsets *o);

/* By rank where the report tells ranks, else by the name of the host or of the input.  NULL: it is not in the report. */
const struct align_map *merge_offsets_of(const struct merge_offsets *o, const char *host, const char *input, int64_t rank);

#endif
