/* tracekit_files.h - lists and extracts the traces in folders and archives. Part of tracekit.h, which includes it. */
#ifndef TRACEKIT_FILES_H
#define TRACEKIT_FILES_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

struct tk_list_options {
  size_t size;
  struct tk_source_options source; /* all_runs and all_files are implied */
  struct tk_load_options load;
  bool deep; /* read all data: counts the events, also of damaged files, and finds their times */
};
#define TK_LIST_OPTIONS_INIT TK_OPTIONS_INIT(tk_list_options)

struct tk_listed {
  struct tk_input input; /* including the results of reading it */
  bool deep;             /* the fields below are known */
  uint64_t events, bytes; /* readable events; decompressed bytes */
  tk_time start, end;
  int64_t origin_ns;
  enum tk_clock clock;
  const char *start_time; /* `start` as text in UTC, such as "2026-11-20T10:21:49.123456789Z"; NULL = unknown */
  const char *ranks;      /* ranks of a file that was merged from several, such as "0-2, 7"; NULL = not a merged file */
};

struct tk_list_report {
  TK_FIXED struct tk_listed *files; /* newest run first */
  size_t n;
  struct tk_sources *sources; /* owns the strings */
  struct tk_diagnostics *notes; /* owns the other strings */
};

/* Lists every file that the names resolve to. Unreadable files are listed with the reason; returns false only on an interrupt
 * or when out of memory. */
TK_EXPERIMENTAL bool tk_list(const char *const *names, size_t n, const struct tk_list_options *opt, struct tk_list_report **report,
                             struct tk_err *err);
TK_EXPERIMENTAL void tk_list_report_free(struct tk_list_report *report);

struct tk_extract_options {
  size_t size;
  struct tk_sources *sources; /* open sources used instead of the names and not closed; or NULL */
  struct tk_source_options source;
  struct tk_load_options load;
  struct tk_save_options save;
  const char *output; /* a file, a folder ("out/" or an existing one), or "-"; NULL = the current folder */
  bool split;         /* write one file per host instead of one per run */
  bool raw;           /* copy files unchanged */
  bool derive;        /* as in tk_merge_options */
  const struct tk_redact_options *redact; /* as in tk_merge_options; not for copies */
  bool fold_graphs;   /* as in tk_merge_options */
};
#define TK_EXTRACT_OPTIONS_INIT TK_OPTIONS_INIT(tk_extract_options)

/* One written file (with dry_run: one that would be written). */
struct tk_extracted {
  const char *output;
  const char *run, *from; /* from: the first input */
  size_t n_inputs, n_failed; /* n_failed: inputs that were skipped, see the notes */
  struct tk_redact_report redacted;
  struct tk_saved written; /* for copies only the bytes are set */
  uint64_t saved; /* events recovered from damaged inputs */
};

struct tk_extract_report {
  TK_FIXED struct tk_extracted *files;
  size_t n;
  size_t n_failed; /* names that could not be listed or read; see the notes */
  struct tk_diagnostics *notes;
};

/* Writes the traces that the names resolve to: the best file of each host of the newest run, on one timeline. Files are called
 * <run>.<host>.json.gz unless `output` names one. Existing files are replaced only with save.force, and names inside an
 * archive never determine where output goes. Unreadable hosts and names are skipped if others can be read (n_failed), unless
 * load.strict. */
TK_EXPERIMENTAL bool tk_extract(const char *const *names, size_t n, const struct tk_extract_options *opt,
                                struct tk_extract_report **report, struct tk_err *err);
TK_EXPERIMENTAL void tk_extract_report_free(struct tk_extract_report *report);

#endif
