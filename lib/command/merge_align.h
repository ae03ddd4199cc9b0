/* merge_align.h - the first pass of a merge: what each host's clock was ahead. */
#ifndef COMMAND_MERGE_ALIGN_H
#define COMMAND_MERGE_ALIGN_H

#include "merge.h"
#include "align/align.h"
#include "load_ahead.h"
#include "merge_collectives.h"
#include "scan.h"

/* The base of time of a merge: the first input's. */
struct merge_base {
  int64_t zero_ns;
  enum tk_clock clock;
};

bool merge_is_comparable(const struct merge_base *base, enum tk_clock clock);
/* What is added to the origin of a trace to stand on the base: nothing where clocks compare, else times are taken as printed. */
int64_t merge_later(const struct merge_base *base, const struct merge_base *own, enum tk_align align);
/* Anchors that each of n inputs has room for: of very many fewer have to do, for all are kept at once. */
uint32_t merge_most_anchors(size_t n);

/* Who an input is, as far as it could be read. */
struct merge_who {
  const char *host; /* "" = unknown; lives with the report's notes */
  int64_t rank;     /* INT64_MAX = it could not be read */
  bool merged;      /* it is of several ranks: the devices of its anchors are those, + 1 */
};

/* How large an input would be in the output, and without its events: 0 = not known, or not asked for.
 * How long it lasts, by its own clock. */
struct merge_size {
  uint64_t bytes, bare;
  int64_t lasts_ns, kept_ns; /* kept: of the steps that are asked for */
  uint32_t processes;
};

/* Scans of all inputs in place of them. */
struct merge_scans {
  struct scan_list *list;
  struct align_anchors *anchors; /* by input; the alignment takes them over */
};

struct merge_alignment {
  struct mem mem;
  struct merge_who *who;  /* by input; NULL if nothing was read */
  struct tk_trace **kept; /* by input: small ones that were read and wait for the second pass; NULL if nothing was read */
  struct scan_pids *pids;    /* by input; NULL if nothing was read */
  uint64_t kept_bytes;
  struct load_ahead *ahead; /* loads what comes next; NULL = nobody does */
  bool *skipped;          /* by input: it is of a rank that was not asked for */
  struct merge_base base;
  int64_t start_ns;       /* when the first event of all is, aligned, on the base's clock; INT64_MAX = nothing was read */
  int64_t end_ns;         /* ... and the last one's end */
  struct merge_collectives collectives; /* if they are asked for */
  struct merge_size *sizes;    /* by input; NULL if nothing was read */
  struct format_starts starts; /* of the first that is wanted, if sizes are asked for */
  struct align_map *maps; /* by input */
  bool *mapped;
  size_t n;
};

/* The map of an input, or NULL if it stays as it is placed. */
static inline const struct align_map *merge_map(const struct merge_alignment *a, size_t input) {
  return a->maps && a->mapped[input] ? &a->maps[input] : NULL;
}

/* The merge ends for want of an input: false, with err saying what to do about it. */
bool merge_stops(size_t n_inputs, struct tk_err *err);
/* Loads an input, or hands out what was kept of the first pass, and cut there. */
struct tk_trace *merge_load(struct merge_alignment *a, const struct merge_inputs *in, size_t i, const struct tk_load_options *opt,
                            struct tk_err *err);

/* Reads the inputs if that is needed, as it is for their start, and says in the report what was found.  Inputs that cannot be read
 * are left to the second pass, which says so. */
bool merge_align(struct merge_alignment *a, const struct merge_inputs *in, const struct tk_merge_options *opt, bool start,
                 struct tk_merge_report *report, struct tk_err *err);
void merge_alignment_free(struct merge_alignment *a);

#endif
