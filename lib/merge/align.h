/* align.h - first pass of a merge: estimates the offset of each host's clock. */
#ifndef MERGE_ALIGN_H
#define MERGE_ALIGN_H

#include "merge.h"
#include "align/apply.h"
#include "align/collect/collect.h"
#include "load/ahead.h"
#include "collectives.h"
#include "scan/scan.h"

/* Time base of a merge, which comes from the first input. */
struct merge_base {
  int64_t zero_ns;
  enum tk_clock clock;
};

/* Identity of an input, as far as it is known. */
struct merge_who {
  const char *host; /* "" = unknown; the report's notes own the text */
  int64_t rank;     /* INT64_MAX = the input could not be read */
  bool merged;      /* the input contains several ranks; the device numbers of its anchors are then rank + 1 */
};

/* Size of an input. bytes, bare: estimated size in the output, with and without its events; 0 = unknown or not requested. lasts_ns,
 * kept_ns: duration of the input, and of its selected steps, on the input's own clock. */
struct merge_size {
  uint64_t bytes, bare;
  int64_t lasts_ns, kept_ns; /* kept_ns: duration of the selected steps */
  uint32_t processes;
};

/* Scans from which a merge is planned when the inputs themselves are not available. */
struct merge_scans {
  struct scan_list *list;
  struct align_anchors *anchors; /* sorted by input; the alignment takes ownership */
};

struct merge_alignment {
  struct mem mem;
  struct merge_who *who;  /* by input; NULL if nothing was read */
  struct tk_trace **kept; /* by input: traces kept in memory for the second pass; NULL if nothing was read */
  struct scan_pids *pids;    /* by input; NULL if nothing was read */
  struct tk_trace **ready; /* by input: traces that were loaded together with an earlier rank of the same file; NULL if nothing was
                            * read */
  uint64_t kept_bytes;    /* size of `kept` and `ready` */
  struct load_ahead *ahead; /* loads the next inputs; NULL = no threads */
  bool *skipped;          /* by input: true if the options do not select its rank */
  struct merge_base base;
  int64_t start_ns;       /* start of the earliest event after alignment, on the base's clock; INT64_MAX = nothing was read */
  int64_t end_ns;         /* end of the last event after alignment */
  struct merge_collectives collectives; /* filled only if requested */
  struct merge_size *sizes;    /* by input; NULL if nothing was read */
  struct format_starts starts; /* from the first selected input */
  struct align_map *maps; /* by input */
  bool *mapped;
  size_t n;
};

/* Returns the map that corrects the clock of an input; NULL = the clock is used unchanged. */
static inline const struct align_map *merge_map(const struct merge_alignment *a, size_t input) {
  return a->maps && a->mapped[input] ? &a->maps[input] : NULL;
}

/* Runs the first pass and reports the results. Inputs are read only if this is needed, for example to align clocks, or because `start`
 * requests the start of the first event. Inputs that cannot be read are ignored here and reported by the second pass. Returns false
 * with err on failure. */
bool merge_align(struct merge_alignment *a, const struct merge_inputs *in, const struct tk_merge_options *opt, bool start,
                 struct tk_merge_report *report, struct tk_err *err);

#endif
