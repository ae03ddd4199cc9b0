/* tracekit_ops.h - operations on traces. Part of tracekit.h, which includes this file.
 *
 * Each operation has an options struct whose zero value is the default, and a report if there are results to return.
 * An operation on a sealed trace changes the trace or writes parts of it to files; tk_merge opens its sources itself. */
#ifndef TRACEKIT_OPS_H
#define TRACEKIT_OPS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* Method that maps the clocks of several hosts onto one. Inputs of one host are never moved against each other. */
enum tk_align {
  TK_ALIGN_AUTO,        /* collectives if they can be trusted, else the wall clock */
  TK_ALIGN_CLOCK,       /* absolute times, if both clocks are known */
  TK_ALIGN_COLLECTIVES, /* collectives, trusted or not */
  TK_ALIGN_MARKER,      /* ends of events named `marker` */
  TK_ALIGN_START,       /* put every host's first event at the same time */
  TK_ALIGN_NONE         /* keep the times as printed */
};

/* Order of the rows of a merged trace. */
enum tk_group_by {
  TK_GROUP_RANK, /* by rank; each rank keeps its own order */
  TK_GROUP_HOST, /* by host, the host of the lowest rank first; reads the inputs twice */
  TK_GROUP_KIND  /* CPUs of all ranks, then accelerators of all ranks, then the rest */
};

struct tk_merge_options {
  size_t size;
  struct tk_load_options load;
  struct tk_save_options save;
  enum tk_align align;
  const char *marker;         /* for MARKER: a name or a glob */
  tk_time clock_error;        /* typical difference between the wall clocks of hosts (80% are within it); 0 = 1 ms */
  const char *reference;      /* rank or host whose clock is the reference; NULL = host of the first input */
  const struct tk_offset *offsets; /* n_offsets fixed offsets; these clocks are not estimated */
  const char *offsets_from; /* file with the clock offsets: an align report, or one made by another tool */
  const struct tk_range *ranks; /* n_ranks ranges of ranks to keep */
  uint32_t every_rank;      /* keep every nth rank: 0, n, 2n ...; 0 = all */
  const char *steps;        /* as in tk_filter_options, applied to the steps of each rank; NULL = all */
  const char *time;         /* range on the common timeline; NULL = all */
  uint64_t to;              /* maximum size of the output in bytes; each input is shrunk to its share; 0 = no limit */
  const char *label;   /* template of process names; NULL = "rank {rank} - {host} - {process}"; also {pid}, {input}, {run},
                        * {step} */
  enum tk_group_by group_by;
  bool derive;         /* apply tk_derive to every input, unless viewers of the output format derive by themselves */
  const struct tk_redact_options *redact; /* apply tk_redact to every input, and omit clocks, hosts and inputs from the
                                           * metadata; NULL = no */
  bool manifest;       /* write a tar of the unpacked inputs that begins with Perfetto's perfetto_manifest.json, instead of one
                        * trace */
  bool to_zero;        /* start the output at time 0; a known clock keeps its absolute times */
  bool keep_going;     /* skip unreadable inputs */
  bool keep_truncated; /* keep the readable part of truncated inputs; otherwise they count as unreadable */
  const char *anchor;       /* regular expression: spans with a matching name are barriers, like collectives; NULL = none */
  const char *collectives;  /* output file (.csv or .json) that lists the ranks of each collective; NULL = none */
  bool link_collectives;    /* for each collective, add flows from the rank that arrived last to the other ranks */
  const char *align_report; /* output file for the clock alignment, as JSON; NULL = none */
  size_t n_ranks, n_offsets; /* n_ranks 0 = keep all ranks */
  const struct tk_source_options *source; /* selection of runs and inputs; NULL = the newest run of each name */
  bool fold_graphs; /* apply tk_fold_graphs to every input */
};
#define TK_MERGE_OPTIONS_INIT TK_OPTIONS_INIT(tk_merge_options)

/* Result for one input. Strings live until tk_merge_report_free. */
struct tk_merge_rank {
  const char *input;
  const char *host; /* "" = unknown */
  int64_t rank;
  const char *rank_from; /* "distributedInfo", "file name", "input order" */
  uint64_t read, events, flow_points, bytes;
  uint32_t processes, hidden_processes;
  int64_t shift_ns; /* this input's zero relative to the first input's, minus the clock offset if one was found */
  uint32_t clock;   /* the input uses the clock of align.hosts[clock - 1]; 0 = clocks were not compared */
  const char *failed; /* reason why the input was skipped; NULL = not skipped */
  uint32_t merged;    /* number of ranks that the input was itself merged from, each of which has its own entry; 0 = one rank */
  bool skipped;       /* its rank was not selected */
  const char *recordings; /* names of other recordings of the rank that were joined with the input; NULL = none */
  uint64_t duplicates;    /* events that were left out because two recordings contain them */
};

/* Stretch of a host's clock with constant drift: the offset at t is offset_ns + drift (t - middle). Between two pieces the
 * clock was set, at an unknown time. */
struct tk_align_piece {
  int64_t from_ns, to_ns;   /* on the host's own clock */
  int64_t offset_ns;        /* offset in the middle of the piece */
  double drift_ppm;
  double error_us;          /* 95% error of the offset */
  double drift_error_ppm;   /* 95% error of the drift */
};

/* Another possible offset. */
struct tk_align_alternative {
  double offset_us, weight; /* weight: 0..1 */
};

/* Alignment result for the clock of one host. */
struct tk_align_host {
  const char *name;        /* host name, else the name of its first input */
  const char *method;      /* "reference", "collectives", "marker", "start", "given", "clock", "none" */
  uint32_t inputs;
  TK_FIXED int64_t *ranks;          /* ranks of its inputs */
  int64_t offset_ns;       /* ns by which the clock was ahead of the reference clock at at_ns on its own time; subtracted from the
                            * times */
  int64_t at_ns;
  double drift_ppm;        /* excess of the clock's rate over the reference clock's, from the first to the last shared collective */
  double drift_error_ppm;  /* 95% error of the drift */
  double error_us;         /* 95% error of the offset in the worst piece, assuming that the host's ranks leave collectives as
                            * others do */
  TK_FIXED struct tk_align_piece *pieces;
  uint32_t n_pieces;       /* 0 = not aligned by collectives */
  uint32_t anchors, rejected; /* number of collectives shared with other hosts; number of outliers among them */
  double mad_us, p95_us;   /* residuals (distance from the other hosts when leaving a collective): median and 95th percentile */
  bool bounded, feasible;  /* bounded: collectives bound the clock from both sides; feasible: the bounds do not contradict each
                            * other */
  double low_us, high_us;  /* proven bounds: the true offset is between offset + low and offset + high, unless a rank left a
                            * collective before another one arrived */
  double weight;           /* posterior probability of this offset among all possible offsets, including "no shared collective":
                              0..1 */
  double unless_us;        /* the offset is valid only if the wall clocks differed by at most this; 0 = valid for any difference */
  struct tk_align_alternative alternatives[3]; /* most probable other offsets */
  uint32_t n_alternatives;
  uint32_t violations_before, violations_after; /* number of collectives that a rank left before another one arrived, before and
                                                 * after the correction */
  bool trusted;
  const char *trust;       /* a sentence */
};

struct tk_align_report {
  const char *method;      /* "collectives", "clock", ... */
  const char *matched_by;  /* best key on which the hosts agree: "sequence numbers", "executions" (of XLA programs), "steps",
                            * "votes", "" */
  const char *reference;   /* name of the reference host */
  TK_FIXED struct tk_align_host *hosts; /* empty if clocks were not compared */
  size_t n_hosts;
  uint32_t collectives;    /* number of collectives on two or more hosts */
  uint32_t violations_before, violations_after;
  bool trusted;            /* one host, or all hosts are trusted and no violation remains */
  const char *json;        /* all of this as in the output's metadata (schemas/align.schema.json) */
};

/* Rank that delayed the others most, judging by shared collectives. */
struct tk_collectives {
  uint64_t n;     /* number of collectives */
  int64_t rank;   /* rank that cost the others most by arriving last */
  uint64_t last;  /* number of collectives in which this rank arrived last */
  double lost_us; /* total time between the second-to-last arrival and the arrival of this rank */
  uint64_t steps; /* number of training steps with such collectives; 0 = steps are unknown */
};

/* One rank of a job; times as in tk_report_meeting. */
struct tk_straggler {
  int64_t rank;
  const char *host; /* "" = unknown */
  uint64_t met, last;
  int64_t wait_ns, cost_ns;
  int64_t lasts_ns; /* from the start of its first event to the end of its last */
};

/* Spans of one name: on the slow rank, and on the typical rank. */
struct tk_straggler_name {
  const char *name;
  uint64_t count[2];
  int64_t self_ns[2], p50_ns[2];
};

/* Slow ranks according to the scans (tk_plan). Strings live as long as the report. */
struct tk_stragglers {
  TK_FIXED struct tk_straggler *ranks; /* largest cost to others first, at most 16; ranks[0] is the slow rank */
  size_t n_ranks;
  uint64_t compared;  /* number of ranks compared: ranks that share a collective, or all */
  struct tk_straggler typical; /* rank whose waiting time is the median */
  bool met;           /* true: judged by collectives; false: by the length of each rank's trace */
  bool stepped;       /* the step in which the slow rank cost most is known: */
  int64_t step, step_cost_ns;
  TK_FIXED struct tk_straggler_name *names; /* names on which the slow rank spent more time than the typical one, largest
                                             * difference first, at most 8 */
  size_t n_names;
};

struct tk_merge_report {
  TK_FIXED struct tk_merge_rank *ranks;
  size_t n_ranks, n_skipped;
  struct tk_align_report align;
  struct tk_redact_report redacted;
  struct tk_saved saved;
  struct tk_collectives collectives; /* n = 0: not requested, or none found */
  uint64_t events_before, bytes_before; /* counts before shrinking; 0 = not shrunk */
  struct tk_diagnostics *notes;
  TK_FIXED struct tk_stragglers *stragglers; /* set by tk_plan; NULL = too few ranks to find a slow one */
};

/* Returns true if the options are valid: label, steps, time, anchor and the combination of options. Needs no input, so that a mistyped
 * option fails before anything is read. Returns false with err otherwise. */
TK_API bool tk_merge_check(const struct tk_merge_options *opt, struct tk_err *err);

/* Merges the inputs that `names` resolve to (tk_sources_open), in that order, into `output`, with one input in memory at a
 * time. A single input stays unchanged unless a label or an order is requested. */
TK_API bool tk_merge(const char *const *names, size_t n, const char *output, const struct tk_merge_options *opt,
                     struct tk_merge_report **report, struct tk_err *err);
/* Merges all inputs of the sources into one trace in memory named `source`. Returns NULL on error. `save` only affects the
 * trace's metadata, and no file is written: `to`, `manifest` and the output files are ignored. The caller frees the report
 * even on failure. */
TK_API struct tk_trace *tk_sources_merge(struct tk_sources *s, const char *source, const struct tk_merge_options *opt,
                                         struct tk_merge_report **report, struct tk_err *err);
TK_API void tk_merge_report_free(struct tk_merge_report *report);

/* Selection of events to keep. All decisions are made on the unfiltered trace, and the result is valid: spans that cross an
 * edge of the time range are clipped and marked (arg tracekit.clipped), counters keep the value they have at its left edge, and
 * a flow that loses one end is removed. */
struct tk_filter_options {
  size_t size;
  const char *const *where;     /* NULL-terminated expressions, all of which must hold, e.g. "name =~ 'nccl' && dur > 10us";
                                 * NULL = all */
  const char *time;             /* "+2s..+5s" (op/window.h); NULL = all */
  const char *steps;            /* "3", "3..5", "3.." or "..5": these training steps: their time range, and the work of
                                 * devices that was launched in it; NULL = all */
  const struct tk_range *range, *step_range; /* the same as numbers; NULL = all */
  const char *const *keep_args; /* NULL-terminated globs of arg keys; NULL = all */
  const char *const *drop_args;
  bool keep_parents;  /* also keep spans that contain a selected event */
  bool keep_children; /* also keep spans within a selected span */
  bool keep_flows;    /* also keep events connected to a selected event by a flow or correlation id */
  bool drop_flows;
  bool refuse_empty;  /* fail with TK_ENOTHING and the reason if no event remains or the step does not exist; the trace is then
                       * unchanged */
  struct tk_progress progress; /* called with the number of events done and the total */
};
#define TK_FILTER_OPTIONS_INIT TK_OPTIONS_INIT(tk_filter_options)

struct tk_filter_report {
  uint64_t events_before, events;
  uint64_t points_before, points; /* flow points */
  uint64_t broken_flows;          /* flows removed because one of their ends was removed */
  uint64_t records_dropped;
  uint64_t clipped;
};

/* Returns the i-th symbol of filter expressions, and sets *help to its meaning. Returns NULL past the end. */
TK_API const char *tk_filter_symbol(size_t i, const char **help);
/* Returns the i-th kind of event. Returns NULL past the end. */
TK_API const char *tk_kind_word(size_t i);

/* Returns true if the options are valid. Needs no trace, so that a mistyped expression fails before anything is read. */
TK_API bool tk_filter_check(const struct tk_filter_options *opt, struct tk_err *err);

/* Filters a sealed trace in place. Adds its counts to `report`, which may be NULL. */
TK_API bool tk_filter(struct tk_trace *t, const struct tk_filter_options *opt, struct tk_filter_report *report, struct tk_err *err);

/* Options of tk_rebase, which moves a trace in time: first scale, then shift, then at most one of the other options. If the
 * clock is known (realtime), only the zero of printed times moves, and absolute times are kept; a shift, a scale or an unknown
 * clock moves the events. */
struct tk_rebase_options {
  size_t size;
  bool to_zero;      /* print the first event at 0 */
  const char *to;    /* print the first event at this time: microseconds, or a number with a unit */
  const char *at;    /* print the nth event with this name (or glob) at 0 */
  uint32_t nth;      /* 0 and 1: the first */
  bool absolute;     /* print times since the epoch */
  bool has_base;     /* print times relative to base_ns, on the scale of tk_trace.origin_ns: gives several traces one base */
  int64_t base_ns;
  const char *scale; /* "0.99998" or "-20ppm": stretches times around the first event */
  tk_time shift;     /* ps */
  const struct tk_total *to_time; /* the same as `to`, as a number; NULL = none */
  int64_t scale_factor;           /* the same as `scale`, times 10^12; 0 = none */
};
#define TK_REBASE_OPTIONS_INIT TK_OPTIONS_INIT(tk_rebase_options)

/* Returns true if the options are valid. Needs no trace. Optional, because tk_rebase makes the same check. */
TK_API bool tk_rebase_check(const struct tk_rebase_options *opt, struct tk_err *err);
TK_API bool tk_rebase(struct tk_trace *t, const struct tk_rebase_options *opt, struct tk_err *err);

enum tk_split_by { TK_SPLIT_STEP, TK_SPLIT_RANK, TK_SPLIT_PROCESS, TK_SPLIT_TIME, TK_SPLIT_SIZE };

struct tk_split_options {
  size_t size;
  struct tk_save_options save;
  enum tk_split_by by;
  tk_time every;  /* TIME: length of a part in ps */
  uint64_t bytes; /* SIZE: maximum size of a written file */
};
#define TK_SPLIT_OPTIONS_INIT TK_OPTIONS_INIT(tk_split_options)

struct tk_split_part {
  TK_FIXED char *output;
  struct tk_saved saved;
  uint64_t clipped;      /* spans clipped at the edge of a part */
  uint64_t broken_flows; /* flows removed because their ends are in different parts */
};

struct tk_split_report {
  TK_FIXED struct tk_split_part *parts;
  size_t n_parts;
};

/* Writes the parts of a sealed trace to `pattern`, in which {} becomes the part's step, rank, process or number. All or
 * nothing: files get their final names, and replace existing files (save.force), only when all parts are complete. */
TK_EXPERIMENTAL bool tk_split(struct tk_trace *t, const char *pattern, const struct tk_split_options *opt,
                              struct tk_split_report **report, struct tk_err *err);
TK_EXPERIMENTAL void tk_split_report_free(struct tk_split_report *report);

/* Options of tk_shrink. Exactly one of the targets bytes, events, percent and lossless must be set. */
struct tk_shrink_options {
  size_t size;
  struct tk_save_options save;
  uint64_t bytes;     /* maximum size of the written file */
  uint64_t events;    /* maximum number of events */
  double percent;     /* maximum size, as a percentage of what a plain conversion to the same output would have */
  bool lossless;      /* keep all events and write the smallest file */
  bool hard;          /* allow removing kernels, collectives, steps and annotations */
  const char *keep;   /* expression (as in tk_filter) for events that are never removed */
  const char *drop;   /* expression for events that are removed first */
  const char *ladder; /* subset and order of the rungs: "args,python,samples,coalesce,spans,counters" */
};
#define TK_SHRINK_OPTIONS_INIT TK_OPTIONS_INIT(tk_shrink_options)

enum { TK_SHRINK_RUNGS = 8 };

struct tk_shrink_rung {
  const char *name;
  uint64_t events; /* events removed, or coalesced into another */
  uint64_t args;   /* events that lost args */
  double seconds;  /* sum of the durations of removed events */
  uint64_t bytes;  /* size of the file after this rung, from a sample if the trace is large; only with dry_run */
};

struct tk_shrink_report {
  uint64_t before, target; /* bytes or events */
  uint64_t events_before;
  struct tk_saved saved;
  struct tk_shrink_rung rungs[TK_SHRINK_RUNGS];
  uint64_t estimate; /* size or number of events that was estimated before writing; 0 = nothing had to be removed */
  uint64_t passthrough; /* bytes saved by omitting data that only the input format understands */
  uint64_t coalesced, broken_flows;
  int level; /* gzip level of the output; 0 = the default */
  /* If most of the file was passthrough packets (such as scheduler events): length of the first part of the trace, which was
   * kept, and its original length, in ns; 0 = the whole trace was kept */
  uint64_t kept_ns, whole_ns;
};

/* Returns true if the options are valid: the target, the expressions and the ladder. Needs no trace, so that a mistyped one fails
 * before anything is read. Returns false with err otherwise. */
TK_EXPERIMENTAL bool tk_shrink_check(const struct tk_shrink_options *opt, struct tk_err *err);

/* Writes the sealed trace so that it meets the target; afterwards the trace in memory equals the written one. If the target
 * cannot be met, fails with TK_ELIMIT and names the smallest possible size, or states that no event would remain. */
TK_EXPERIMENTAL bool tk_shrink(struct tk_trace *t, const char *output, const struct tk_shrink_options *opt,
                               struct tk_shrink_report *report, struct tk_err *err);
/* Same as tk_shrink, but writes to memory, which the caller frees with free(); `name` implies format and compression, as in
 * tk_save_memory. */
TK_EXPERIMENTAL bool tk_shrink_memory(struct tk_trace *t, const char *name, struct tk_bytes *to,
                                      const struct tk_shrink_options *opt, struct tk_shrink_report *report, struct tk_err *err);

/* Events that an analysis covers; fields as in tk_filter_options. */
struct tk_selection {
  const char *const *where;
  const char *time, *steps;
  const struct tk_range *range, *step_range;
  struct tk_progress progress;
  uint64_t reserved[4]; /* zero */
};

/* Sets selected[id] to 1 for each event of the sealed trace that the selection contains, and to 0 for the others; `selected` has room
 * for n_events + 1 elements. Returns false with err on failure, such as an invalid expression. */
TK_EXPERIMENTAL bool tk_selected(struct tk_trace *t, const struct tk_selection *select, uint8_t *selected, struct tk_err *err);

enum tk_top_by {
  TK_TOP_NAME, TK_TOP_CAT, TK_TOP_KIND, TK_TOP_RANK, TK_TOP_PROCESS, TK_TOP_TRACK, TK_TOP_STREAM, TK_TOP_STEP, TK_TOP_ARG,
  TK_TOP_PHASE, TK_TOP_OP, TK_TOP_MODULE, /* phase, op or module around the event or its launch */
  TK_TOP_CLASS,                           /* class of kernels: matmul, attention, ... */
  TK_TOP_DEVICE                           /* device of kernels, copies and fills: GPU 0, TPU:0, ... */
};
enum tk_top_sort {
  TK_TOP_SORT_TOTAL, TK_TOP_SORT_SELF, TK_TOP_SORT_UNION, TK_TOP_SORT_COUNT, TK_TOP_SORT_MEAN, TK_TOP_SORT_MIN, TK_TOP_SORT_P50,
      TK_TOP_SORT_P95, TK_TOP_SORT_MAX,
  TK_TOP_SORT_NAME
};

struct tk_top_options {
  size_t size;
  struct tk_selection select;
  enum tk_top_by by;
  enum tk_top_sort sort;     /* descending; NAME: ascending by bytes */
  const char *arg;           /* key of the arg, for TK_TOP_ARG */
  const char *const *cols;   /* NULL-terminated arg keys whose mean, minimum and maximum are reported; NULL = none */
  uint64_t min_count;        /* omit rows with fewer events */
  bool fold;                 /* treat names that differ only in numbers or template arguments as equal */
  bool no_copies;            /* leave out a profiler's copies, on devices, of annotations that the trace contains */
};
#define TK_TOP_OPTIONS_INIT TK_OPTIONS_INIT(tk_top_options)

/* Statistics of one arg over a row's events. */
struct tk_top_col {
  uint64_t count; /* events that have the arg as a finite number; if 0 the other fields are undefined */
  double mean, min, max;
};

/* Statistics of spans, instants (duration 0) and stack samples. The weight of a sample counts as self time of its innermost
 * frame, and as total time of each frame of its stack. If a span crosses an edge of the time range, only the part inside counts;
 * one that never ended is only in count and unfinished. */
struct tk_top_row {
  const char *name;     /* NULL = unnamed */
  size_t name_len;
  uint64_t count, instants, unfinished, clipped;
  uint64_t samples;     /* stack samples in count: samples whose stack contains the name */
  uint64_t timed;       /* number of events with a known duration; if 0, the times below are undefined */
  struct tk_total total; /* sum of durations */
  struct tk_total self; /* time in which one of the events was the innermost selected span of its thread */
  tk_time union_time;   /* time in which at least one of the events ran, on any thread */
  tk_time min, max, mean, p50, p95; /* of the durations of spans, or of instants if there are no spans; pN: nearest-rank percentile */
  double of_range;      /* union_time as a share of the time range, 0..1 */
  double of_sum;        /* self as a share of the report's sum, 0..1 */
  TK_FIXED struct tk_top_col *cols; /* one for each of tk_top_options.cols */
  const char *short_name; /* short readable name, unique in this report, if all events are kernels and the rows are names; or
                             NULL */
  size_t short_len;
  bool is_mark;         /* the events only show that a profiler ran; the row is listed last and has no self time */
};

struct tk_top_report {
  TK_FIXED struct tk_top_row *rows;
  size_t n_rows;
  uint64_t events;       /* selected spans, instants and stack samples */
  uint64_t unfinished, clipped;
  tk_time start, end;    /* time range of the trace, limited by --time and --step */
  struct tk_total sum;   /* sum of the self times of all selected events */
  size_t n_cols;
  const char *unit;      /* unit of total, self and sum, in which one unit is stored as one nanosecond; NULL = they are times */
  uint64_t unweighed;    /* stack samples in other units: included in `events`, but not in the sums */
  struct tk_top_impl *impl;
  const char *step_name; /* with TK_TOP_STEP: name of the spans that mark steps, with * for numbers; NULL = none, or bare numbers */
  uint64_t allocations;  /* selected spans that are allocations of memory: the duration of such a span is the time from
                            allocation to release */
};

/* Aggregates the time of a sealed trace by name, kind, rank, ... */
TK_EXPERIMENTAL bool tk_top(struct tk_trace *t, const struct tk_top_options *opt, struct tk_top_report **report,
                            struct tk_err *err);
TK_EXPERIMENTAL void tk_top_report_free(struct tk_top_report *report);
/* Returns the data that no row depends on, as enum tk_without. A trace that is loaded without this data gives the same report, and
 * tk_diff gives the same rows for the same selection and grouping. */
TK_EXPERIMENTAL uint8_t tk_top_without(const struct tk_top_options *opt);

struct tk_tree_options {
  size_t size;
  struct tk_selection select;
  bool has_by;          /* the outermost level groups events by `by` */
  enum tk_top_by by;    /* must not be KIND, because an event can have several kinds */
  const char *arg;      /* key of the arg, for TK_TOP_ARG */
  const char *per;      /* name or glob: count only events within spans with this name */
  bool fold;            /* as in tk_top_options */
  const char *path;     /* key of an arg whose text is the path, such as "tf_op": "layer_3/attention/dot". The levels are the
                         * parts of this path, then the name of the event; only events with the arg count, each with its self time */
  bool by_start;        /* siblings in the order of their first starts */
  bool per_step;        /* count only events that begin in a step; cannot be combined with per and path */
  bool layers;          /* device time by layer: paths are the scopes of XLA (tf_op), or else nested modules, or else annotations; per
                         * step if steps are marked. Cannot be combined with per, path and per_step */
  uint32_t levels;      /* list only this many levels; 0 = all */
};
#define TK_TREE_OPTIONS_INIT TK_OPTIONS_INIT(tk_tree_options)

/* Spans with the same path of names, outermost name first, or stack samples with the same outer frames. */
struct tk_tree_node {
  const char *name;     /* NULL = unnamed */
  size_t name_len;
  uint32_t parent;      /* index of an earlier node; UINT32_MAX = none */
  uint32_t depth;
  uint64_t count, unfinished, clipped;
  struct tk_total total; /* sum of durations, excluding spans that never ended */
  struct tk_total self;  /* time in which one of the spans was the innermost selected span of its thread */
  tk_time device;        /* time in which an accelerator ran work launched within the spans, on any stream */
  uint64_t launched;     /* number of kernels, copies and fills launched within the spans */
  tk_time mean;          /* mean duration of the spans that ended; negative = there are none */
  const char *short_name; /* as in tk_top_row: set if all spans are kernels; unique in this report */
  bool is_mark;           /* as in tk_top_row: the node is the last of its siblings, has no self time and is excluded from sums */
};

struct tk_tree_report {
  TK_FIXED struct tk_tree_node *nodes; /* parents before children, siblings by descending total, or by_start */
  size_t n_nodes;
  uint64_t calls;      /* number of spans that match `per`, or of steps with per_step; 0 = neither was given */
  struct tk_total sum; /* sum over the outermost nodes that are not marks */
  const char *unit;    /* as in tk_top_report */
  uint64_t unweighed;
  struct tk_tree_impl *impl;
  const char *layers;  /* kind of the layers: "scopes", "modules" or "annotations"; NULL = there are none */
  tk_time work;        /* with layers: time in which an accelerator ran work in the steps, or in the trace without steps.
                          Otherwise, time in which an accelerator ran work (with per_step: in the steps); 0 if no work was
                          launched within the spans */
  tk_time outside;     /* time in which work ran that was launched outside of all spans, or whose launch is unknown; 0 with layers,
                        * which have a node without a name for this work */
  uint64_t stepless;    /* with layers or per_step: selected spans that begin outside of all steps, and are left out */
};

/* Aggregates the time of a sealed trace by path of names. */
TK_EXPERIMENTAL bool tk_tree(struct tk_trace *t, const struct tk_tree_options *opt, struct tk_tree_report **report,
                             struct tk_err *err);
TK_EXPERIMENTAL void tk_tree_report_free(struct tk_tree_report *report);

/* ---- SQL ---- */

/* Type of a value. Text is NUL-terminated, is valid UTF-8 unless the query made it otherwise, and lives until the next row. */
enum tk_sql_type { TK_SQL_NULL, TK_SQL_INTEGER, TK_SQL_REAL, TK_SQL_TEXT, TK_SQL_BLOB };
struct tk_sql_value {
  enum tk_sql_type type;
  int64_t i;
  double d;
  const char *text; /* for TEXT and BLOB */
  size_t n;
};

/* Value of a parameter of a statement: "?" and "?1" take the values without a name in their order, ":name", "@name" and "$name" the
 * value with this name. A statement with a parameter that has no value is refused. */
struct tk_sql_param {
  const char *name; /* without the first character; NULL = by position */
  struct tk_sql_value value;
};

/* Callbacks that receive results: each statement with columns calls begin, row for each row, then end. Each callback may be
 * NULL; returning false stops the run. */
struct tk_sql_answer {
  bool (*begin)(void *arg, const char *const *columns, size_t n);
  bool (*row)(void *arg, const struct tk_sql_value *values, size_t n);
  bool (*end)(void *arg, bool cut); /* cut: there were more rows than max_rows */
  void *arg;
};

struct tk_sql_options {
  size_t size;
  uint64_t timeout_ms; /* limit for each statement; 0 = none */
  uint64_t max_rows;   /* limit for each result; 0 = none */
  uint64_t max_memory; /* as in tk_load_options; includes the trace */
  struct tk_progress progress; /* called to ask whether to continue */
  unsigned threads;    /* threads that run read-only statements in parallel; 0 = number of cores */
  const struct tk_sql_param *params; /* [n_params]; must outlive the database */
  size_t n_params;
};
#define TK_SQL_OPTIONS_INIT TK_OPTIONS_INIT(tk_sql_options)

struct tk_sql;

/* Exposes a sealed trace as SQL tables, read in place: the tables of Perfetto's trace_processor (slice, thread, track, args,
 * ...) and tracekit's own. The trace must outlive the database and must not change. Queries cannot access anything else. */
TK_API struct tk_sql *tk_sql_open(struct tk_trace *t, const struct tk_sql_options *opt, struct tk_err *err);
/* Runs all statements of the text. */
TK_API bool tk_sql_run(struct tk_sql *s, const char *sql, const struct tk_sql_answer *to, struct tk_err *err);
/* Returns the names of the tables that are read in place, and sets *n to their number; sqlite_schema lists the tables and views
 * that statements created. The list lives until tk_sql_close. */
TK_API const char *const *tk_sql_tables(const struct tk_sql *s, size_t *n);
/* Returns the at-th difference from trace_processor's answers that concerns this trace and the statements run so far; NULL after the
 * last one. */
TK_API const char *tk_sql_difference(const struct tk_sql *s, size_t at);
/* Returns the data that no result of the statements depends on, as enum tk_without; conservative, since there is no trace yet.
 * Always contains TK_WITHOUT_RESTORING: the tables contain the rows that Perfetto shows for the file. */
TK_API uint8_t tk_sql_without(const char *sql);
/* Returns true if the text ends with a complete statement. */
TK_API bool tk_sql_complete(const char *sql);
/* Writes the tables, with indices, as an SQLite file; `force` replaces an existing file. */
TK_API bool tk_sql_copy(struct tk_sql *s, const char *path, bool force, struct tk_err *err);
TK_API void tk_sql_close(struct tk_sql *s);

enum tk_size_by { TK_SIZE_KIND, TK_SIZE_CAT, TK_SIZE_NAME, TK_SIZE_ARG, TK_SIZE_TRACK, TK_SIZE_RANK, TK_SIZE_BYS };

/* One row of a size report. */
struct tk_size_row {
  enum tk_size_by by;
  TK_FIXED char *key;       /* "" = without a key */
  uint64_t bytes;  /* bytes of the written text */
  uint64_t events; /* number of events; for ARG: number of values */
};

struct tk_size_report {
  uint64_t bytes;       /* size as it would be written */
  uint64_t packed;      /* size after compression */
  TK_FIXED struct tk_size_row *rows; /* by `by`, largest first; the rows of every table except ARG and RANK add up to bytes */
  size_t n_rows;
  const char *format;   /* the format whose bytes were counted: a string literal */
};

/* Breaks down the size of a sealed trace as written in `format` (NULL: the input's format, or Chrome JSON if that one cannot be
 * written); `opt` may be NULL. */
TK_EXPERIMENTAL bool tk_size(struct tk_trace *t, const struct tk_save_options *opt, struct tk_size_report **report,
                             struct tk_err *err);
TK_EXPERIMENTAL void tk_size_report_free(struct tk_size_report *report);

#endif
