/* tracekit_steps.h - a merge in steps, for machines that do not hold all traces; a part of tracekit.h, which includes it.
 *
 *     tk_scan, tk_apply     where a rank lies
 *     tk_plan, tk_concat    where all scans, and all parts, are */
#ifndef TRACEKIT_STEPS_H
#define TRACEKIT_STEPS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

struct tk_scan_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save; /* of which only force counts */
  const char *anchor;          /* as in tk_merge_options */
  bool join;                   /* the names are of scans, which become one */
  bool keep_truncated;         /* as in tk_merge_options */
  const char *input;           /* what the one input is called in plans, where it is a pipe or a copy; NULL = as it is named */
};
#define TK_SCAN_OPTIONS_INIT TK_OPTIONS_INIT(tk_scan_options)

struct tk_scan_report {
  uint64_t ranks, anchors, events, bytes; /* anchors: collectives on devices, which clocks are compared by; bytes of the file */
  struct tk_diagnostics *notes;           /* the caller frees them by tk_diagnostics_free */
};

/* Keeps what clocks are compared by of what the names stand for (tk_sources_open), at most 64 KiB a rank, in the file `output`.  One
 * pass over each input, one in memory at a time. */
TK_API bool tk_scan(const char *const *names, size_t n, const char *output, const struct tk_scan_options *opt,
                    struct tk_scan_report *report, struct tk_err *err);

/* Compares the clocks of all ranks of the scans, as tk_merge does with the same options, and writes what it found to `output`: JSON,
 * which tk_merge takes as offsets_from (schemas/plan.schema.json).  Options that select, name and order count for nothing here. */
TK_API bool tk_plan(const char *const *scans, size_t n, const char *output, const struct tk_merge_options *opt,
                    struct tk_merge_report *report, struct tk_err *err);

struct tk_apply_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save; /* of which only force and progress count: the plan says the rest */
  const char *input;           /* which input of the plan the rank is; NULL = that of its name, else that of its rank */
  bool keep_truncated;         /* as in tk_merge_options */
};
#define TK_APPLY_OPTIONS_INIT TK_OPTIONS_INIT(tk_apply_options)

/* Writes one rank as it stands in the merge of all that was planned, as a part: `output` is for tk_concat alone.  The report is of the
 * one rank. */
TK_API bool tk_apply(const char *plan, const char *rank, const char *output, const struct tk_apply_options *opt,
                     struct tk_merge_report *report, struct tk_err *err);

struct tk_concat_options {
  size_t size;
  struct tk_save_options save; /* of which force, no_loss and progress count */
  uint64_t max_memory;
  bool keep_going;             /* leave out ranks that have no part, and parts that cannot be read */
};
#define TK_CONCAT_OPTIONS_INIT TK_OPTIONS_INIT(tk_concat_options)

/* Joins the parts (NULL-terminated) of all ranks of a plan: what tk_merge of the ranks writes, with the options of tk_plan. */
TK_API bool tk_concat(const char *plan, const char *const *parts, const char *output, const struct tk_concat_options *opt,
                      struct tk_merge_report *report, struct tk_err *err);

#endif
