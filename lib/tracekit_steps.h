/* tracekit_steps.h - a merge in separate steps, for traces on different machines. Part of tracekit.h, which includes it.
 *
 *     tk_scan, tk_apply     on the machine that stores a rank
 *     tk_plan, tk_concat    on the machine that collects all scans and parts */
#ifndef TRACEKIT_STEPS_H
#define TRACEKIT_STEPS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

struct tk_scan_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save; /* only force is used */
  const char *anchor;          /* as in tk_merge_options */
  bool join;                   /* the names are scans to be joined */
  bool keep_truncated;         /* as in tk_merge_options */
  const char *input;           /* name of the single input in plans, if it is a pipe or a copy; NULL = its own name */
  const struct tk_source_options *source; /* as in tk_merge_options */
};
#define TK_SCAN_OPTIONS_INIT TK_OPTIONS_INIT(tk_scan_options)

struct tk_scan_report {
  uint64_t ranks, anchors, events, bytes; /* anchors: collectives on devices, used to compare clocks; bytes of the file */
  struct tk_diagnostics *notes;
  uint64_t others; /* inputs that contain no rank although others do, such as the trace of a server */
};

/* Writes to `output` the data needed to compare the clocks of the named inputs (tk_sources_open), at most 64 KiB per rank.
 * Reads each input once, with one input in memory at a time. */
TK_EXPERIMENTAL bool tk_scan(const char *const *names, size_t n, const char *output, const struct tk_scan_options *opt,
                             struct tk_scan_report **report, struct tk_err *err);
TK_EXPERIMENTAL void tk_scan_report_free(struct tk_scan_report *report);

/* Compares the clocks of all ranks in the scans, as tk_merge does with the same options, and writes the result to `output`:
 * JSON that tk_merge accepts as offsets_from (schemas/plan.schema.json). Options for selecting, naming and ordering are ignored
 * here. */
TK_EXPERIMENTAL bool tk_plan(const char *const *scans, size_t n, const char *output, const struct tk_merge_options *opt,
                             struct tk_merge_report **report, struct tk_err *err);

struct tk_apply_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save; /* only force and progress are used: the plan contains the rest */
  /* name of the rank's input in the plan; NULL = found by the name of the rank's file, or else by the number of the rank */
  const char *input;
  bool keep_truncated;         /* as in tk_merge_options */
  const struct tk_source_options *source; /* as in tk_merge_options */
  /* number of the rank in the plan; needed for a file that contains several ranks; NULL = found by the name */
  const int64_t *rank;
};
#define TK_APPLY_OPTIONS_INIT TK_OPTIONS_INIT(tk_apply_options)

/* Writes the part of one rank in the planned merge; only tk_concat reads `output`. The report covers this rank. */
TK_EXPERIMENTAL bool tk_apply(const char *plan, const char *rank, const char *output, const struct tk_apply_options *opt,
                              struct tk_merge_report **report, struct tk_err *err);

struct tk_concat_options {
  size_t size;
  struct tk_save_options save; /* only force, no_loss and progress are used */
  uint64_t max_memory;
  bool keep_going;             /* leave out ranks without a part, and parts that cannot be read */
};
#define TK_CONCAT_OPTIONS_INIT TK_OPTIONS_INIT(tk_concat_options)

/* Joins the parts (NULL-terminated) of all ranks of a plan into the output of tk_merge with the options of tk_plan. */
TK_EXPERIMENTAL bool tk_concat(const char *plan, const char *const *parts, const char *output, const struct tk_concat_options *opt,
                               struct tk_merge_report **report, struct tk_err *err);

#endif
