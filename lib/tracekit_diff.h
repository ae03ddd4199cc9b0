/* tracekit_diff.h - comparisons of two and of several runs. Part of tracekit.h, which includes this file.
 *
 * Strings live as long as the report. docs/analysis.md defines each figure. */
#ifndef TRACEKIT_DIFF_H
#define TRACEKIT_DIFF_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* ---- before and after ---- */

struct tk_diff_options {
  size_t size;
  struct tk_load_options load;
  struct tk_selection select;
  enum tk_top_by by; /* anything but KIND */
  const char *arg;   /* key of the arg, for TK_TOP_ARG */
  bool by_path;      /* compare spans by path of names instead */
  bool fold;         /* as in tk_top_options */
  bool whole;        /* compare ranks, not their steps */
  bool trends;       /* tk_compare: the runs are in the order of time; also find lasting changes */
  bool by_launch;    /* match kernels, copies and fills by the operators that launched them instead of by name; rows are names */
  bool keep_going;   /* skip unreadable inputs, and runs without a readable input, with a note; two runs must remain */
  const char *const *names; /* tk_diff, tk_diff_traces: names of the two runs; NULL = "before" and "after" */
};
#define TK_DIFF_OPTIONS_INIT TK_OPTIONS_INIT(tk_diff_options)

enum { TK_BEFORE, TK_AFTER };

/* Events of one name before and after: means per step and rank, or per rank if steps are not marked on both sides. */
struct tk_diff_row {
  const char *name;  /* NULL = unnamed */
  size_t name_len;
  uint64_t events[2];
  double count[2], total[2], self[2]; /* times in picoseconds */
  double delta;      /* total after minus total before */
  double noise;      /* half the width of the 95% confidence interval of delta; negative = unknown, for lack of steps or ranks
                      */
  const char *work_name[2]; /* by_launch: name of the kernel, copy or fill with the most time; NULL = none in this row */
  const char *work_short_name[2];
  uint64_t work_names[2];   /* number of different names of this work */
  const char *short_name;   /* as in tk_top_row: set if all events are kernels and the rows are names */
  bool is_mark;             /* as in tk_top_row; marks follow all other rows */
};

enum tk_diff_state {
  TK_DIFF_CHANGED,
  TK_DIFF_NOISE,   /* the change is within the noise */
  TK_DIFF_UNKNOWN, /* the noise is unknown */
  TK_DIFF_NEW,     /* no event before */
  TK_DIFF_GONE     /* no event after */
};
/* Returns how the events of a row changed, judging by their counts and by the noise. */
TK_EXPERIMENTAL enum tk_diff_state tk_diff_state(const struct tk_diff_row *r);

struct tk_diff_report {
  TK_FIXED struct tk_diff_row *rows; /* largest change first */
  size_t n_rows;
  TK_FIXED struct tk_diff_row *all;  /* all events together; total is their self time */
  TK_FIXED struct tk_diff_row *step; /* steps; total is their duration; count 0 unless both sides have marked steps */
  struct tk_report_spread steps[2];
  uint64_t inputs[2], ranks[2], samples[2]; /* samples: number of steps over all ranks, or of ranks if no steps are compared */
  uint64_t outside[2]; /* events that begin outside every step; excluded */
  bool by_step;
  bool paired;         /* each sample of one side is paired with a sample of the other side */
  bool by_number;      /* true: paired by step and rank number; false: by order */
  struct tk_diagnostics *notes;
  struct tk_diff_impl *impl;
  TK_FIXED struct tk_compare_run *runs; /* both runs, as in tk_compare_report */
};

/* Compares two runs, with one trace in memory at a time. The caller frees the report even on failure. */
TK_EXPERIMENTAL bool tk_diff(struct tk_sources *before, struct tk_sources *after, const struct tk_diff_options *opt,
                             struct tk_diff_report **report, struct tk_err *err);
/* Compares two loaded traces, which may be the same. */
TK_EXPERIMENTAL bool tk_diff_traces(struct tk_trace *before, struct tk_trace *after, const struct tk_diff_options *opt,
                                    struct tk_diff_report **report, struct tk_err *err);
TK_EXPERIMENTAL void tk_diff_report_free(struct tk_diff_report *report);

/* ---- several runs ---- */

enum tk_compare_state {
  TK_COMPARE_BASE,    /* the first run, with which all others are compared */
  TK_COMPARE_ABSENT,  /* no event in this run and in the first */
  TK_COMPARE_CHANGED,
  TK_COMPARE_NOISE,   /* the change is within the noise */
  TK_COMPARE_UNKNOWN, /* the noise is unknown */
  TK_COMPARE_NEW,     /* no event in the first run */
  TK_COMPARE_GONE     /* no event in this run */
};

/* Events of one name in one run: means per step and rank, or per rank if a run has no steps. */
struct tk_compare_cell {
  uint64_t events;
  double count, total, self; /* times in picoseconds */
  double error;              /* standard error of total; negative = unknown */
  double delta, noise;       /* change of total from the first run, and the noise of the change; as in tk_diff_row */
  enum tk_compare_state state;
  const char *work_name, *work_short_name; /* as in tk_diff_row */
  uint64_t work_names;
};

/* A lasting change of the total between two runs; docs/analysis.md describes the test. */
struct tk_compare_shift {
  uint64_t run;         /* index of the first run after the change */
  double before, after; /* mean totals of the runs since the previous change, and up to the next one, in picoseconds */
  double noise;         /* half the width of the 95% confidence interval of after - before */
  double p;             /* probability of such a change by chance, corrected for the number of places where it could be */
  bool small;           /* less than 1% of the time of a step, or of all events without steps */
};

struct tk_compare_row {
  const char *name; /* NULL = unnamed */
  size_t name_len;
  TK_FIXED struct tk_compare_cell *runs; /* one for each run, in their order */
  size_t n_runs;
  TK_FIXED struct tk_compare_shift *shifts; /* in the order of runs; empty unless `trends` is set */
  size_t n_shifts;
  const char *short_name; /* as in tk_diff_row */
  bool is_mark;           /* as in tk_diff_row */
};

struct tk_compare_run {
  const char *name;
  uint64_t inputs, ranks, samples, outside; /* as in tk_diff_report */
  uint64_t devices, work, launches; /* work: kernels, copies and fills; launches: events of hosts that launched work */
  double launches_per_step; /* mean over the steps that are compared; negative = steps are not compared */
  tk_time length;       /* duration of the longest trace */
  tk_time window, busy; /* window and busy time, means over the devices */
  double memory;        /* highest peak of an allocator of a device in bytes; negative = unknown */
  bool paired, by_number; /* matching of samples with samples of the first run, as in tk_diff_report */
  struct tk_report_spread steps; /* count 0 unless steps are compared */
  double outside_time;  /* self time of the `outside` events, ps */
  const char *step_name; /* name of the spans that mark the compared steps, with * for numbers; NULL = no steps, bare numbers,
                            or different names */
  double allocated;     /* highest peak of allocated bytes of any device allocator; negative = unknown */
};

struct tk_compare_report {
  TK_FIXED struct tk_compare_run *runs;
  size_t n_runs;
  TK_FIXED struct tk_compare_row *rows; /* largest change first; with trends, rows with a lasting change precede the others */
  size_t n_rows;
  TK_FIXED struct tk_compare_row *all;  /* all events together; total is their self time */
  TK_FIXED struct tk_compare_row *step; /* steps; total is their duration; valid if by_step */
  bool by_step;
  struct tk_diagnostics *notes;
  struct tk_compare_impl *impl;
};

/* Compares n >= 1 runs with the first of them, with one trace in memory at a time. `names`: one for each run. The caller frees
 * the report even on failure. */
TK_EXPERIMENTAL bool tk_compare(struct tk_sources *const *runs, const char *const *names, size_t n,
                                const struct tk_diff_options *opt, struct tk_compare_report **report, struct tk_err *err);
TK_EXPERIMENTAL void tk_compare_report_free(struct tk_compare_report *report);

#endif
