/* align.h - first pass of a merge: estimates how far each host's clock was ahead. */
#ifndef MERGE_ALIGN_H
#define MERGE_ALIGN_H

#include "merge.h"
#include "align/apply.h"
#include "align/collect/collect.h"
#include "load/ahead.h"
#include "collectives.h"
#include "scan/scan.h"

/* Time base of a merge, taken from the first input. */
struct merge_base {
  int64_t zero_ns;
  enum tk_clock clock;
};

/* Identity of an input, as far as it could be read. */
struct merge_who {
  const char *host; /* "" = unknown; owned by the report's notes */
  int64_t rank;     /* INT64_MAX = could not be read */
  bool merged;      /* contains several ranks: the devices of its anchors are ranks + 1 */
};

/* Estimated bytes of an input in the output, with and without its events; 0 = unknown or not requested. Its duration by its own
 * clock. */
struct merge_size {
  uint64_t bytes, bare;
  int64_t lasts_ns, kept_ns; /* kept: of the selected steps */
  uint32_t processes;
};

/* Scans that replace all inputs. */
struct merge_scans {
  struct scan_list *list;
  struct align_anchors *anchors; /* ordered by input; the alignment takes ownership */
};

struct merge_alignment {
  struct mem mem;
  struct merge_who *who;  /* by input; NULL if nothing was read */
  struct tk_trace **kept; /* by input: small traces kept for the second pass; NULL if nothing was read */
  struct scan_pids *pids;    /* by input; NULL if nothing was read */
  uint64_t kept_bytes;
  struct load_ahead *ahead; /* loads the next inputs; NULL = no threads */
  bool *skipped;          /* by input: true if its rank is not selected */
  struct merge_base base;
  int64_t start_ns;       /* aligned start of the earliest event, on the base's clock; INT64_MAX = nothing was read */
  int64_t end_ns;         /* aligned end of the last event */
  struct merge_collectives collectives; /* if requested */
  struct merge_size *sizes;    /* by input; NULL if nothing was read */
  struct format_starts starts; /* of the first wanted input */
  struct align_map *maps; /* by input */
  bool *mapped;
  size_t n;
};

/* Returns the clock map of an input; NULL = none, its clock is used as it is. */
static inline const struct align_map *merge_map(const struct merge_alignment *a, size_t input) {
  return a->maps && a->mapped[input] ? &a->maps[input] : NULL;
}

/* Runs the first pass: reads the inputs if clocks must be aligned, or if `start` requests the start of the first event, and
 * reports the results. Inputs that cannot be read are left to the second pass, which reports them. */
bool merge_align(struct merge_alignment *a, const struct merge_inputs *in, const struct tk_merge_options *opt, bool start,
                 struct tk_merge_report *report, struct tk_err *err);

#endif
