/* tracekit_ops.h - the operations on traces: a part of tracekit.h, which includes it.
 *
 * Each has an options struct, zero being the default, and a report where there is something to say.  Those that take a sealed trace
 * change it or write parts of it; merge, list and extract open sources by themselves. */
#ifndef TRACEKIT_OPS_H
#define TRACEKIT_OPS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* What xprof makes of an XSpace before it shows it: to which step events belong (args group_id and step_name, the step's own event is
 * called by it), and lines of devices: Steps, XLA Modules, XLA Ops, Framework Name Scope, Framework Ops, Source code.  Events and args
 * that are made bear this arg, and are written to no XPlane.  A trace that is none, or says its steps itself, stays as it is. */
#define TK_DERIVED "tracekit.derived"
struct tk_derived {
  uint64_t steps, lines, events; /* made */
  uint64_t grouped;              /* events that are of a step */
};
TK_API bool tk_derive(struct tk_trace *t, struct tk_derived *done, struct tk_err *err);

/* How the clocks of several hosts are put on one.  Inputs of one host are never moved against each other. */
enum tk_align {
  TK_ALIGN_AUTO,        /* by collectives where they can be trusted, else by the wall clock */
  TK_ALIGN_CLOCK,       /* absolute times where both clocks are known */
  TK_ALIGN_COLLECTIVES, /* by collectives, trusted or not */
  TK_ALIGN_MARKER,      /* by the ends of events called `marker` */
  TK_ALIGN_START,       /* every host's first event at the same time */
  TK_ALIGN_NONE         /* as printed */
};

/* How the rows of a merged trace are ordered. */
enum tk_group_by {
  TK_GROUP_RANK, /* rank 0 first, each in its own order */
  TK_GROUP_HOST, /* ranks of one host together, that of the lowest rank first; the inputs are read twice */
  TK_GROUP_KIND  /* CPUs of all ranks, then accelerators of all ranks, then the rest */
};

struct tk_merge_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save;
  enum tk_align align;
  const char *marker;         /* a name, or a pattern as for files; for MARKER */
  tk_time clock_error;        /* what the wall clocks of hosts are usually apart (80% within it); 0 = 1 ms */
  const char *reference;      /* rank or host whose clock is right; NULL = of the first input */
  const struct tk_offset *offsets; /* n_offsets of them: these are moved by that, and not otherwise */
  const char *offsets_from; /* file: a report as align_report writes it, or one made elsewhere; clocks are those that it says */
  const struct tk_range *ranks; /* n_ranks of them: which ranks are kept */
  uint32_t every_rank;      /* of these, ranks 0, n, 2 n ...; 0 = all */
  const char *steps;        /* as of tk_filter_options, each rank by its own steps; NULL = all */
  const char *time;         /* ... of the common timeline */
  uint64_t to;              /* bytes that the output may have at most: each input is shrunk to its share of it; 0 = any */
  const char *label;   /* how processes are named; NULL = "rank {rank} - {host} - {process}"; also {pid}, {input}, {run}, {step} */
  enum tk_group_by group_by;
  bool derive;         /* tk_derive of every input, unless viewers of the output's format do that */
  const struct tk_redact_options *redact; /* tk_redact of every input, and nothing of clocks, hosts and inputs is said; NULL = not */
  bool manifest;       /* not one trace, but a tar of the inputs, unpacked, with Perfetto's perfetto_manifest.json before them */
  bool to_zero;        /* the output begins at time 0; a known clock keeps its absolute times */
  bool keep_going;     /* leave out inputs that cannot be read */
  bool keep_truncated; /* take what there is of inputs that end too early, else they cannot be read */
  const char *anchor;       /* a regular expression: spans whose name it matches are barriers as collectives are; NULL = none */
  const char *collectives;  /* file for who was in which collective, .csv or .json; NULL = none */
  bool link_collectives;    /* flows lead from the last one to come to a collective to the others */
  const char *align_report; /* file for what was found of the clocks, as JSON; NULL = none */
  size_t n_ranks, n_offsets; /* 0 ranks = all are kept */
};
#define TK_MERGE_OPTIONS_INIT TK_OPTIONS_INIT(tk_merge_options)

/* What became of one input.  Strings live until tk_merge_report_free. */
struct tk_merge_rank {
  const char *input;
  const char *host; /* "" = unknown */
  int64_t rank;
  const char *rank_from; /* "distributedInfo", "file name", "input order" */
  uint64_t read, events, flow_points, bytes;
  uint32_t processes, hidden_processes;
  int64_t shift_ns; /* its zero against the first input's, less its clock's lead where that was found */
  uint32_t clock;   /* its clock is that of the report's align.hosts[clock - 1]; 0 = clocks were not compared */
  const char *failed; /* NULL, or why it was left out */
  uint32_t merged;    /* it was merged of so many ranks, which are told of themselves; 0 = it is of one */
  bool skipped;       /* it is of a rank that was not asked for */
};

/* A stretch of a host's clock that is a line: within it the offset at t is offset_ns + drift (t - the middle).  Between two of them the
 * clock was set, nobody knows when. */
struct tk_align_piece {
  int64_t from_ns, to_ns;   /* by the host's own clock */
  int64_t offset_ns;        /* in the middle */
  double drift_ppm;
  double error_us;          /* 95% of all such offsets are that near */
  double drift_error_ppm;   /* as near is the drift */
};

/* Another offset that is possible. */
struct tk_align_alternative {
  double offset_us, weight; /* weight: 0..1 */
};

/* What was found of one host's clock. */
struct tk_align_host {
  const char *name;        /* the host's, else that of its first input */
  const char *method;      /* "reference", "collectives", "marker", "start", "given", "clock", "none" */
  uint32_t inputs;
  TK_FIXED int64_t *ranks;          /* of the inputs */
  int64_t offset_ns;       /* its clock's lead over the reference's that was taken away, at at_ns by its own clock */
  int64_t at_ns;
  double drift_ppm;        /* how much faster it ran; between the first and the last of its collectives */
  double drift_error_ppm;  /* 95% of all such drifts are that near */
  double error_us;         /* 95% of all such offsets are that near, in its worst piece, if its ranks leave collectives as others do */
  TK_FIXED struct tk_align_piece *pieces;
  uint32_t n_pieces;       /* 0 = it was not moved by collectives */
  uint32_t anchors, rejected; /* collectives that it shares with other hosts; those that disagree */
  double mad_us, p95_us;   /* residuals: how far from the other hosts it leaves a collective; median and 95% */
  bool bounded, feasible;  /* collectives bound its clock from both sides; without contradiction */
  double low_us, high_us;  /* proven: the offset is within offset + low .. offset + high, or somebody left before another one came */
  double weight;           /* of this offset among all that are possible, that nothing is in common included: 0..1 */
  double unless_us;        /* it is this one unless the wall clocks were farther apart than that; 0 = whatever they were */
  struct tk_align_alternative alternatives[3]; /* the heaviest of the others */
  uint32_t n_alternatives;
  uint32_t violations_before, violations_after; /* collectives that somebody left before somebody else came */
  bool trusted;
  const char *trust;       /* a sentence */
};

struct tk_align_report {
  const char *method;      /* "collectives", "clock", ... */
  const char *matched_by;  /* the best key that agrees: "sequence numbers", "executions" (of XLA's programs), "steps", "votes", "" */
  const char *reference;   /* host */
  TK_FIXED struct tk_align_host *hosts; /* none if clocks were not compared */
  size_t n_hosts;
  uint32_t collectives;    /* on two hosts or more */
  uint32_t violations_before, violations_after;
  bool trusted;            /* one host, or all are trusted and no violation is left */
  const char *json;        /* all this, as the output's metadata hold it (schemas/align.schema.json) */
};

/* What collectives that several ranks were in say of who was waited for. */
struct tk_collectives {
  uint64_t n;     /* collectives */
  int64_t rank;   /* that cost the others most by coming last */
  uint64_t last;  /* how often it did */
  double lost_us; /* by how much, in all, it came after the last but one */
  uint64_t steps; /* of training, in which that was; 0 = none are told */
};

/* Of a rank of a job; times as in tk_report_meeting. */
struct tk_straggler {
  int64_t rank;
  const char *host; /* "" = unknown */
  uint64_t met, last;
  int64_t wait_ns, cost_ns;
  int64_t lasts_ns; /* from its first event to the end of its last */
};

/* Spans of one name: of the slow rank, and of the typical one. */
struct tk_straggler_name {
  const char *name;
  uint64_t count[2];
  int64_t self_ns[2], p50_ns[2];
};

/* Who is slow, as far as scans tell it (tk_plan).  Strings live as long as the report. */
struct tk_stragglers {
  TK_FIXED struct tk_straggler *ranks; /* those that cost the others most first, at most 16; the first is the slow one */
  size_t n_ranks;
  uint64_t compared;  /* ranks: those that met any other in a collective, or all */
  struct tk_straggler typical; /* it waited as long as half of the ranks did */
  bool met;           /* told by collectives; else by how long each lasts */
  bool stepped;       /* the step in which the slow one cost most is known: */
  int64_t step, step_cost_ns;
  TK_FIXED struct tk_straggler_name *names; /* in which the slow one spent more time than the typical one, the most first, at most 8 */
  size_t n_names;
};

struct tk_merge_report {
  TK_FIXED struct tk_merge_rank *ranks;
  size_t n_ranks, n_skipped;
  struct tk_align_report align;
  struct tk_redact_report redacted;
  struct tk_saved saved;
  struct tk_collectives collectives; /* n = 0: they were not asked for, or there are none */
  uint64_t events_before, bytes_before; /* before it was shrunk; 0 = it was not asked for */
  struct tk_diagnostics *notes;
  TK_FIXED struct tk_stragglers *stragglers; /* of tk_plan; NULL = of so few ranks none is slow */
};

/* Merges what `names` stand for (tk_sources_open) in their order into `output`, one input in memory at a time.  A single input stays
 * as it is unless a label or an order is asked for. */
TK_API bool tk_merge(const char *const *names, size_t n, const char *output, const struct tk_merge_options *opt,
                     struct tk_merge_report *report, struct tk_err *err);
/* The same of all that the sources name, as one trace in memory that is called `source`; NULL on error.  What `save` says counts only
 * for what the trace says of itself, and nothing else is written: of the options, `to`, `manifest` and files mean nothing here.  The
 * caller frees the report in any case. */
TK_API struct tk_trace *tk_sources_merge(struct tk_sources *s, const char *source, const struct tk_merge_options *opt,
                                         struct tk_merge_report *report, struct tk_err *err);
TK_API void tk_merge_report_free(struct tk_merge_report *report);

/* What stays of a trace.  Everything is decided on the trace as it is; what stays is valid: spans that cross an edge of the time
 * range are clipped and say so (arg tracekit.clipped), counters keep the value that they have at its left edge, a flow that loses
 * one end goes. */
struct tk_filter_options {
  size_t size;
  const char *const *where;     /* NULL-terminated expressions that must all hold, e.g. "name =~ 'nccl' && dur > 10us"; NULL = all */
  const char *time;             /* "+2s..+5s" (op/window.h); NULL = all */
  const char *steps;            /* "3", "3..5", "3.." or "..5": training steps as a range of time; NULL = all */
  const struct tk_range *range, *step_range; /* the same in numbers; NULL = all */
  const char *const *keep_args; /* NULL-terminated globs of arg keys; NULL = all */
  const char *const *drop_args;
  bool keep_parents;  /* spans around what passes */
  bool keep_children; /* spans within what passes */
  bool keep_flows;    /* what a flow or a correlation id ties to it */
  bool drop_flows;
  bool refuse_empty;  /* that no event stays, or no step is such, is TK_ENOTHING, which says why; the trace stays as it was */
  struct tk_progress progress; /* events done, and of how many */
};
#define TK_FILTER_OPTIONS_INIT TK_OPTIONS_INIT(tk_filter_options)

struct tk_filter_report {
  uint64_t events_before, events;
  uint64_t points_before, points; /* flow points */
  uint64_t broken_flows;          /* flows that lost an end, and so the other */
  uint64_t records_dropped;
  uint64_t clipped;
};

/* The i-th symbol of expressions and what it stands for; the i-th kind of event.  NULL past the end. */
TK_API const char *tk_filter_symbol(size_t i, const char **help);
TK_API const char *tk_kind_word(size_t i);

/* Can these options be understood?  Asked without a trace, so that a mistyped expression costs no reading. */
TK_API bool tk_filter_check(const struct tk_filter_options *opt, struct tk_err *err);

/* Filters a sealed trace in place.  `report` may be NULL; it is added to. */
TK_API bool tk_filter(struct tk_trace *t, const struct tk_filter_options *opt, struct tk_filter_report *report, struct tk_err *err);

/* Moves a trace in time: first scale, then shift, then at most one of the others.  Where the clock is known (realtime) only the zero
 * that times are printed against moves, and absolute times stay; a shift, a scale and an unknown clock move the events. */
struct tk_rebase_options {
  size_t size;
  bool to_zero;      /* the first event is printed at 0 */
  const char *to;    /* ... at this time: microseconds, or a number with a unit */
  const char *at;    /* the nth event of this name (or glob) is printed at 0 */
  uint32_t nth;      /* 0 and 1: the first */
  bool absolute;     /* times are printed since the epoch */
  bool has_base;     /* times are printed against base_ns, on the scale of tk_trace.origin_ns: several traces on one base */
  int64_t base_ns;
  const char *scale; /* "0.99998" or "-20ppm": times are stretched about the first event */
  tk_time shift;     /* ps */
};
#define TK_REBASE_OPTIONS_INIT TK_OPTIONS_INIT(tk_rebase_options)

/* Can these options be understood?  Asked without a trace; tk_rebase asks it first. */
TK_API bool tk_rebase_check(const struct tk_rebase_options *opt, struct tk_err *err);
TK_API bool tk_rebase(struct tk_trace *t, const struct tk_rebase_options *opt, struct tk_err *err);

enum tk_split_by { TK_SPLIT_STEP, TK_SPLIT_RANK, TK_SPLIT_PROCESS, TK_SPLIT_TIME, TK_SPLIT_SIZE };

struct tk_split_options {
  size_t size;
  struct tk_save_options save;
  enum tk_split_by by;
  tk_time every;  /* TIME: ps a part */
  uint64_t bytes; /* SIZE: of a written file, at most */
};
#define TK_SPLIT_OPTIONS_INIT TK_OPTIONS_INIT(tk_split_options)

struct tk_split_part {
  TK_FIXED char *output;
  struct tk_saved saved;
  uint64_t clipped;      /* spans that reach into other parts of time */
  uint64_t broken_flows; /* flows whose other end is in another part, dropped */
};

struct tk_split_report {
  TK_FIXED struct tk_split_part *parts;
  size_t n_parts;
};

/* Writes the parts of a sealed trace to `pattern`, whose {} becomes the part's step, rank, process or number.  All or nothing:
 * files get their names, and replace what is there (save.force), when all are whole. */
TK_API bool tk_split(struct tk_trace *t, const char *pattern, const struct tk_split_options *opt, struct tk_split_report *report,
                     struct tk_err *err);
TK_API void tk_split_report_free(struct tk_split_report *report);

/* Makes a trace fit.  Exactly one target: bytes, events, percent or lossless. */
struct tk_shrink_options {
  size_t size;
  struct tk_save_options save;
  uint64_t bytes;     /* of the written file, at most */
  uint64_t events;    /* in it, at most */
  double percent;     /* of what converting the trace to the same output would write */
  bool lossless;      /* all events, the smallest file */
  bool hard;          /* kernels, collectives, steps and annotations may go too */
  const char *keep;   /* events that never go: an expression as of tk_filter */
  const char *drop;   /* events that go first */
  const char *ladder; /* rungs in another order, or fewer: "args,python,coalesce,spans,counters" */
};
#define TK_SHRINK_OPTIONS_INIT TK_OPTIONS_INIT(tk_shrink_options)

enum { TK_SHRINK_RUNGS = 7 };

struct tk_shrink_rung {
  const char *name;
  uint64_t events; /* that went, or were put into another */
  uint64_t args;   /* events that lost args */
  double seconds;  /* sum of the durations of those that went */
  uint64_t bytes;  /* of the file with this rung climbed, by a sample of large traces; only of a dry run */
};

struct tk_shrink_report {
  uint64_t before, target; /* bytes, or events */
  uint64_t events_before;
  struct tk_saved saved;
  struct tk_shrink_rung rungs[TK_SHRINK_RUNGS];
  uint64_t estimate; /* what was expected of the plan before it was written; 0 = nothing had to go */
  uint64_t passthrough; /* bytes that were saved by leaving out what only the format of the input understands */
  uint64_t coalesced, broken_flows;
  int level; /* gzip level that it was written with; 0 = the default */
};

/* Writes the sealed trace so that it fits; it is afterwards what was written.  A target that cannot be met is TK_ELIMIT and says the
 * smallest size that can. */
TK_API bool tk_shrink(struct tk_trace *t, const char *output, const struct tk_shrink_options *opt, struct tk_shrink_report *report,
                      struct tk_err *err);
/* The same into memory, whose bytes free() takes; `name` tells format and compression as tk_save_memory has it. */
TK_API bool tk_shrink_memory(struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_shrink_options *opt,
                             struct tk_shrink_report *report, struct tk_err *err);

/* Which events an analysis is about: fields as of tk_filter_options. */
struct tk_selection {
  const char *const *where;
  const char *time, *steps;
  const struct tk_range *range, *step_range;
  struct tk_progress progress;
  uint64_t reserved[4]; /* zero */
};

enum tk_top_by {
  TK_TOP_NAME, TK_TOP_CAT, TK_TOP_KIND, TK_TOP_RANK, TK_TOP_PROCESS, TK_TOP_TRACK, TK_TOP_STREAM, TK_TOP_STEP, TK_TOP_ARG
};
enum tk_top_sort {
  TK_SORT_TOTAL, TK_SORT_SELF, TK_SORT_UNION, TK_SORT_COUNT, TK_SORT_MEAN, TK_SORT_MIN, TK_SORT_P50, TK_SORT_P95, TK_SORT_MAX,
  TK_SORT_NAME
};

struct tk_top_options {
  size_t size;
  struct tk_selection select;
  enum tk_top_by by;
  enum tk_top_sort sort;     /* the greatest first; NAME: in the order of bytes */
  const char *arg;           /* of TK_TOP_ARG: its key */
  const char *const *cols;   /* NULL-terminated keys of args of which mean, least and greatest are wanted; NULL = none */
  uint64_t min_count;        /* rows of fewer events are left out */
  bool fold;                 /* names that differ in numbers or template arguments are one */
};
#define TK_TOP_OPTIONS_INIT TK_OPTIONS_INIT(tk_top_options)

/* The numbers of one arg of a row's events. */
struct tk_top_col {
  uint64_t count; /* events that have it, as a finite number; if 0 the others mean nothing */
  double mean, min, max;
};

/* What is known of the events of one name, kind, rank...: spans and instants, whose duration is 0; counters have none.  Of a span that
 * crosses an edge of the range of time, the part within it counts.  One that never ended is counted and has no time, so that it is
 * in nothing but count and unfinished. */
struct tk_top_row {
  const char *name;     /* NULL: they have none */
  size_t name_len;
  uint64_t count, instants, unfinished, clipped;
  uint64_t timed;       /* of count: whose duration is known; if 0, the times below mean nothing */
  struct tk_total total; /* sum of durations */
  struct tk_total self; /* time in which one of them was the innermost span of its thread */
  tk_time union_time;   /* time in which at least one of them ran, on whatever thread */
  tk_time min, max, mean, p50, p95; /* pN: the shortest duration that N% of them do not exceed */
  double of_range;      /* union_time in the range of time, 0..1 */
  double of_sum;        /* self in the report's sum, 0..1 */
  TK_FIXED struct tk_top_col *cols; /* as many as were asked for */
};

struct tk_top_report {
  TK_FIXED struct tk_top_row *rows;
  size_t n_rows;
  uint64_t events;       /* spans and instants that were selected */
  uint64_t unfinished, clipped;
  tk_time start, end;    /* the range: of the trace, less what --time and --step leave out */
  struct tk_total sum;   /* self times of all that was selected, each once */
  size_t n_cols;
  struct tk_top_impl *impl;
};

/* Where the time of a sealed trace went. */
TK_API bool tk_top(struct tk_trace *t, const struct tk_top_options *opt, struct tk_top_report *report, struct tk_err *err);
TK_API void tk_top_report_free(struct tk_top_report *report);

struct tk_tree_options {
  size_t size;
  struct tk_selection select;
  bool has_by;          /* outermost are what the events are told apart by, not names */
  enum tk_top_by by;    /* no kind, of which an event can have several */
  const char *arg;      /* of TK_TOP_ARG: its key */
  const char *per;      /* a name, or a pattern as for files: only what is in spans of it counts */
  bool fold;            /* as of tk_top_options */
};
#define TK_TREE_OPTIONS_INIT TK_OPTIONS_INIT(tk_tree_options)

/* The spans of one path of names, outermost first. */
struct tk_tree_node {
  const char *name;     /* NULL: they have none */
  size_t name_len;
  uint32_t parent;      /* before it in the report; UINT32_MAX = none */
  uint32_t depth;
  uint64_t count, unfinished, clipped;
  struct tk_total total; /* sum of durations; what never ended has none */
  struct tk_total self;  /* time in which one of them was the innermost selected span of its thread */
  tk_time device;        /* time in which an accelerator ran what was launched in them, on any stream */
  uint64_t launched;     /* kernels, copies and fills of it */
};

struct tk_tree_report {
  TK_FIXED struct tk_tree_node *nodes; /* parents before children, siblings by total, the greatest first */
  size_t n_nodes;
  uint64_t calls;      /* of `per`; 0 = it was not asked for */
  struct tk_total sum; /* of the outermost */
  struct tk_tree_impl *impl;
};

/* Where the time of a sealed trace went, by path of names. */
TK_API bool tk_tree(struct tk_trace *t, const struct tk_tree_options *opt, struct tk_tree_report *report, struct tk_err *err);
TK_API void tk_tree_report_free(struct tk_tree_report *report);

/* ---- SQL ---- */

/* A value of a row.  Text is valid UTF-8 as far as the query made it so, followed by a NUL, and lives until the next row. */
enum tk_sql_type { TK_SQL_NULL, TK_SQL_INTEGER, TK_SQL_REAL, TK_SQL_TEXT, TK_SQL_BLOB };
struct tk_sql_value {
  enum tk_sql_type type;
  int64_t i;
  double d;
  const char *text; /* of TEXT and BLOB */
  size_t n;
};

/* Where answers go: each statement that has columns begins, gives its rows and ends.  Each may be NULL; false stops the run. */
struct tk_sql_answer {
  bool (*begin)(void *arg, const char *const *columns, size_t n);
  bool (*row)(void *arg, const struct tk_sql_value *values, size_t n);
  bool (*end)(void *arg, bool cut); /* cut: there were more rows than max_rows */
  void *arg;
};

struct tk_sql_options {
  size_t size;
  uint64_t timeout_ms; /* of a statement; 0 = none */
  uint64_t max_rows;   /* of an answer; 0 = any number */
  uint64_t max_memory; /* as in tk_load_options: the trace included */
  struct tk_progress progress; /* asked whether to go on */
  unsigned threads;    /* that run statements which only read, side by side; 0 = as many as there are cores */
};
#define TK_SQL_OPTIONS_INIT TK_OPTIONS_INIT(tk_sql_options)

struct tk_sql;

/* A sealed trace as tables that SQL reads in place: those of Perfetto's trace_processor (slice, thread, track, args, ...) and our own.
 * The trace must outlive the database and stay as it is.  A query can reach nothing else. */
TK_API struct tk_sql *tk_sql_open(struct tk_trace *t, const struct tk_sql_options *opt, struct tk_err *err);
/* Runs all statements of the text. */
TK_API bool tk_sql_run(struct tk_sql *s, const char *sql, const struct tk_sql_answer *to, struct tk_err *err);
/* The names of the tables that are read in place; views and tables that statements made stand in sqlite_schema. */
TK_API const char *const *tk_sql_tables(const struct tk_sql *s, size_t *n);
/* What no answer of the text's statements depends on, as far as that is known before there is a trace: of enum tk_without. */
TK_API uint8_t tk_sql_without(const char *sql);
/* Does the text end where a statement does? */
TK_API bool tk_sql_complete(const char *sql);
/* Writes the tables, with indices, as a file of SQLite's. */
TK_API bool tk_sql_copy(struct tk_sql *s, const char *path, bool force, struct tk_err *err);
TK_API void tk_sql_close(struct tk_sql *s);

enum tk_size_by { TK_SIZE_KIND, TK_SIZE_CAT, TK_SIZE_NAME, TK_SIZE_ARG, TK_SIZE_TRACK, TK_SIZE_RANK, TK_SIZE_BYS };

/* One row: what the bytes were spent on. */
struct tk_size_row {
  enum tk_size_by by;
  TK_FIXED char *key;       /* text, "" = without one */
  uint64_t bytes;  /* of the written text */
  uint64_t events; /* of ARG: values */
};

struct tk_size_report {
  uint64_t bytes;       /* as it would be written */
  uint64_t packed;      /* compressed */
  TK_FIXED struct tk_size_row *rows; /* by `by`, largest first; the rows of each but ARG and RANK add up to bytes */
  size_t n_rows;
};

/* What a sealed trace is made of, as written in `format` (NULL: as read); `opt` may be NULL. */
TK_API bool tk_size(struct tk_trace *t, const struct tk_save_options *opt, struct tk_size_report *report, struct tk_err *err);
TK_API void tk_size_report_free(struct tk_size_report *report);

struct tk_list_options {
  size_t size;
  struct tk_source_options source; /* all_runs and all_files are taken as said */
  struct tk_load_options load;
  bool deep; /* read everything: events, time and what can be saved of the damaged */
};
#define TK_LIST_OPTIONS_INIT TK_OPTIONS_INIT(tk_list_options)

struct tk_listed {
  struct tk_input input; /* with what the reading told */
  bool deep;             /* the rest is known */
  uint64_t events, bytes; /* that can be read; decompressed */
  tk_time start, end;
  int64_t origin_ns;
  enum tk_clock clock;
};

struct tk_list_report {
  TK_FIXED struct tk_listed *files; /* the newest run first */
  size_t n;
  struct tk_sources *sources; /* owner of the strings */
  struct tk_diagnostics *notes; /* owner of others */
};

/* Lists every file that the names stand for.  What cannot be read is in the list, with the reason; false only on an interrupt or
 * when memory has run out. */
TK_API bool tk_list(const char *const *names, size_t n, const struct tk_list_options *opt, struct tk_list_report *report,
                    struct tk_err *err);
TK_API void tk_list_report_free(struct tk_list_report *report);

struct tk_extract_options {
  size_t size;
  struct tk_sources *sources; /* opened already, taken instead of the names and not closed; or NULL */
  struct tk_source_options source;
  struct tk_load_options load;
  struct tk_save_options save;
  const char *output; /* a file, a folder ("out/", or one that is there), "-"; NULL = the current folder */
  bool split;         /* a file for each host instead of one for each run */
  bool raw;           /* copies, as they lie there */
  bool derive;        /* as in tk_merge_options */
  const struct tk_redact_options *redact; /* as there; not of copies */
};
#define TK_EXTRACT_OPTIONS_INIT TK_OPTIONS_INIT(tk_extract_options)

/* One file that was written (dry_run: that would be). */
struct tk_extracted {
  const char *output;
  const char *run, *from; /* from: the input, or the first of several */
  size_t n_inputs, n_failed; /* failed: left out, see the notes */
  struct tk_redact_report redacted;
  struct tk_saved written; /* of copies: bytes alone */
  uint64_t saved; /* events of damaged inputs that could be saved */
};

struct tk_extract_report {
  TK_FIXED struct tk_extracted *files;
  size_t n;
  size_t n_failed; /* names of which nothing can be listed or read: see the notes */
  struct tk_diagnostics *notes;
};

/* Writes what the names stand for: of the newest run the best file of each host, on one timeline.  Files are called
 * <run>.<host>.json.gz unless `output` names one; nothing is replaced without save.force, and names from an archive decide nothing.
 * Hosts of a run, and names, that cannot be read are left out if others can (n_failed), unless load.strict. */
TK_API bool tk_extract(const char *const *names, size_t n, const struct tk_extract_options *opt, struct tk_extract_report *report,
                       struct tk_err *err);
TK_API void tk_extract_report_free(struct tk_extract_report *report);

#endif
