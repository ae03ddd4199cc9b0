/* tracekit_report.h - what a run did with its time, on one page: a part of tracekit.h, which includes it.
 *
 * Strings live as long as the report.  docs/analysis.md says what each figure means; schemas/job.schema.json gives all of them
 * the names that `check --assert` and `diff --fail-if` know them by. */
#ifndef TRACEKIT_REPORT_H
#define TRACEKIT_REPORT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

enum { TK_REPORT_BINS = 480 };

struct tk_report_options {
  size_t size;
  struct tk_load_options load;
  struct tk_selection select; /* which work of devices counts, and which range of time */
  bool strips;                /* a timeline of each device: tk_report_rank.strip */
  bool brief;                 /* times of devices, steps, names and versions alone: launches and tables cost as much again */
  bool keep_going;            /* leave out inputs that cannot be read, with a note */
};
#define TK_REPORT_OPTIONS_INIT TK_OPTIONS_INIT(tk_report_options)

/* How a device spent a stretch of time.  compute + exposed_communication + exposed_copy + exposed_fill + idle is the window. */
struct tk_device_times {
  tk_time window, busy, idle;
  tk_time compute, communication, copy, fill, memory; /* each the time in which at least one of its kind ran; memory: copy or fill */
  tk_time overlap;               /* computed and communicated */
  tk_time exposed_communication; /* communicated, and did not compute */
  tk_time exposed_copy;          /* copied, and did neither */
  tk_time exposed_fill;          /* filled memory, and did nothing else */
  tk_time idle_host, idle_kernel, idle_other; /* parts of idle, by what was waited for; see tk_report_rank.linked */
};

struct tk_report_step {
  int64_t number;
  tk_time dur;
  bool outlier; /* longer than the upper quartile by 1.5 times the distance of the quartiles */
  struct tk_device_times times;
};

/* A distribution of durations; valid if count > 0. */
struct tk_report_spread {
  uint64_t count, outliers;
  tk_time min, max, mean, p50, p95, deviation;
};

struct tk_report_stream {
  const char *name;
  uint64_t work; /* kernels, copies and fills */
  tk_time busy, idle_host, idle_kernel, idle_other; /* idle: between pieces of work */
  uint64_t queue_most;   /* launched and not yet begun, at most */
  double queue_mean;     /* ... over the time from the first launch to the last start */
};

/* One device of a rank; a rank without any is one as well. */
struct tk_report_rank {
  int64_t rank;       /* -1 = unknown */
  const char *host;   /* "" = unknown */
  const char *input;
  const char *device; /* "" = the trace holds no work of a device: of its times it tells nothing */
  int64_t start_ns;   /* of what the strip shows, since the epoch if the clock tells it, on the common timeline */
  tk_time length;     /* ... and how long that is */
  uint64_t events;    /* of the rank: spans, instants, counter samples */
  uint64_t work, linked; /* kernels, copies and fills; whose launch is known.  0: causes of idle time and delays are not known */
  uint64_t unfinished;   /* that never ended, and are in no time */
  struct tk_device_times times; /* from its first work to the end of its last */
  uint64_t under_10us, under_100us; /* kernels */
  tk_time time_under_10us, time_under_100us; /* sums of their durations */
  uint64_t kernels;
  tk_time kernel_sum;
  tk_time delay_mean, delay_max; /* from the end of the launching call to the start, not less than 0; of what is linked */
  tk_time latency_mean;          /* from the start of the call to the start */
  tk_time overhead_mean;         /* from the start of the call, or from when the stream was free, to the start */
  uint64_t bytes_known; /* work that says how many bytes it read and wrote (bytes_accessed) */
  double bytes;
  tk_time bytes_time;   /* in which any of it ran */
  double flops;         /* of the same work, if it says so; 0 = it does not */
  uint64_t compilations; /* spans that compile, outermost; of the rank's host */
  tk_time compile;      /* time in which any ran */
  uint64_t host_ops, host_only_ops; /* outermost operators; those within which nothing was launched */
  tk_time host_only;    /* sum of their durations */
  uint64_t runtime_calls; /* of the rank's host: spans of the kind runtime */
  TK_FIXED struct tk_report_step *steps;
  size_t n_steps;
  struct tk_report_spread step; /* of their durations */
  TK_FIXED struct tk_report_stream *streams;
  size_t n_streams;
  TK_FIXED uint16_t *strip; /* TK_REPORT_BINS times: thousandths computing, exposed communication, exposed copies and fills; or NULL */
};

struct tk_report_kernel {
  const char *name;
  size_t name_len;
  const char *kind; /* "compute", "communication", "copy", "fill" */
  uint64_t count;
  struct tk_total total;
  tk_time min, max, mean;
  double of_sum; /* 0..1, of all work */
  uint64_t bytes_known; /* copies and fills that say their size */
  double bytes;  /* of these */
  tk_time bytes_time; /* sum of their durations */
};

/* Calls that launch, by name; each with all that it launched. */
struct tk_report_launch {
  const char *name;
  uint64_t work;
  struct tk_total call_sum, work_sum; /* durations, of the call once for each piece of work */
  struct tk_total delay_sum;
  tk_time delay_max;
};

/* Collectives of one name. */
struct tk_report_collective {
  const char *name;
  uint64_t count;  /* kernels on all ranks */
  uint64_t sized;  /* ... that say their bytes and the size of their group: bandwidths are of these */
  double bytes;
  struct tk_total total, sized_total; /* durations, waiting for others included */
  double bus_bytes;     /* bytes times the factor that makes a bus bandwidth of it; over sized_total, at least the link's */
  uint64_t met;    /* collectives that were found on two ranks or more; the rest is of these */
  struct tk_total core; /* sum of each one's shortest duration */
  struct tk_total wait; /* sum over ranks of the time from coming until the last one came */
  double core_bus_bytes;
  uint64_t core_sized;
  struct tk_total core_time; /* of those that are sized */
};

/* What a rank's being last in collectives cost the others, and how long it waited itself. */
struct tk_report_meeting {
  int64_t rank;
  uint64_t met, last;
  struct tk_total wait; /* until the last one came */
  struct tk_total cost; /* by how much it came after the last but one, where it was last */
};

struct tk_report_memory {
  int64_t rank;
  const char *allocator; /* "GPU 0", "cpu" */
  double peak_allocated, peak_reserved; /* bytes; negative = not told */
  tk_time at; /* since the trace's first event: of the peak */
};

struct tk_report {
  TK_FIXED struct tk_report_rank *ranks;
  size_t n_ranks;
  TK_FIXED struct tk_report_kernel *kernels; /* all work by name, the greatest total first */
  size_t n_kernels;
  TK_FIXED struct tk_report_launch *launches;
  size_t n_launches;
  TK_FIXED struct tk_report_collective *collectives;
  size_t n_collectives;
  TK_FIXED struct tk_report_meeting *meetings; /* by rank; none if collectives could not be compared */
  size_t n_meetings;
  uint64_t met; /* collectives that two ranks or more were in */
  TK_FIXED struct tk_report_memory *memories;
  size_t n_memories;
  const char *TK_FIXED *devices; /* names of accelerators, each once */
  size_t n_devices;
  const char *TK_FIXED *versions; /* "PyTorch 2.4", as far as the traces say */
  size_t n_versions;
  const char *TK_FIXED *unknown; /* sentences: what these traces do not tell */
  size_t n_unknown;
  const char *format;   /* of the first trace */
  uint64_t inputs;
  struct tk_total work; /* sum of the durations of all work */
  struct tk_diagnostics *notes;
  struct tk_report_impl *impl;
};

/* Of all that the sources name, one trace in memory at a time; with several, collectives are compared, for which large ones are read
 * twice.  The caller frees the report in any case. */
TK_API bool tk_report_sources(struct tk_sources *s, const struct tk_report_options *opt, struct tk_report *report, struct tk_err *err);
/* Of a trace that is loaded. */
TK_API bool tk_report_trace(struct tk_trace *t, const struct tk_report_options *opt, struct tk_report *report, struct tk_err *err);
TK_API void tk_report_free(struct tk_report *report);

/* ---- before and after ---- */

struct tk_diff_options {
  size_t size;
  struct tk_load_options load;
  struct tk_selection select;
  enum tk_top_by by; /* no kind */
  const char *arg;   /* of TK_TOP_ARG: its key */
  bool by_path;      /* instead: spans by path of names */
  bool fold;         /* as of tk_top_options */
  bool whole;        /* compare ranks, not their steps */
};
#define TK_DIFF_OPTIONS_INIT TK_OPTIONS_INIT(tk_diff_options)

enum { TK_BEFORE, TK_AFTER };

/* What is known of one name, before and after, of one step of one rank: means over all of these.  Where steps are not marked on both
 * sides, of a rank. */
struct tk_diff_row {
  const char *name;  /* NULL: they have none */
  size_t name_len;
  uint64_t events[2];
  double count[2], total[2], self[2]; /* times in picoseconds */
  double delta;      /* total after less total before */
  double noise;      /* as far as the delta may be off, in 95 of 100 cases; negative = not known, for want of steps or ranks */
};

struct tk_diff_report {
  TK_FIXED struct tk_diff_row *rows; /* what changed most first */
  size_t n_rows;
  struct tk_diff_row all;   /* of all events together: total is the self time of all */
  struct tk_diff_row step;  /* steps: total is their duration; no events if none are marked on both sides */
  struct tk_report_spread steps[2];
  uint64_t inputs[2], ranks[2], samples[2]; /* samples: steps of ranks, or ranks */
  uint64_t outside[2]; /* events that begin in no step, and are left out */
  bool by_step;
  bool paired;         /* a sample of one side belongs to one of the other */
  bool by_number;      /* ... by the numbers of steps and ranks, else by their order */
  struct tk_diagnostics *notes;
  struct tk_diff_impl *impl;
};

/* What changed from the one run to the other, one trace in memory at a time.  The caller frees the report in any case. */
TK_API bool tk_diff(struct tk_sources *before, struct tk_sources *after, const struct tk_diff_options *opt,
                    struct tk_diff_report *report, struct tk_err *err);
TK_API void tk_diff_report_free(struct tk_diff_report *report);

/* ---- what a file is made of ---- */

/* What a binary file is made of, in its own format's words.  Strings live as long as the trace. */
struct tk_share {
  const char *name; /* "event metadata", "track_event" */
  uint64_t count, bytes; /* count 0: not counted */
};
struct tk_plane { /* XPlane */
  const char *name;
  int64_t id;
  tk_id process;            /* its track, 0 = metadata alone */
  uint32_t line, lines;     /* lines[line ..] are in it */
  uint64_t events, bytes;   /* on the wire, without its own tag and length */
  bool device;
};
struct tk_line {
  const char *name, *display_name; /* "" = none */
  int64_t id;
  uint64_t events;
};
struct tk_wire_clock { /* Perfetto */
  uint32_t id, machine;
  const char *name;  /* "BOOTTIME"; "" = has none */
  bool of_sequence;  /* counts for one sequence alone */
  uint32_t readings; /* in snapshots */
};

struct tk_inspection {
  TK_FIXED struct tk_share *parts; /* largest first; Perfetto: packets by what they carry, inside of compressed ones as well */
  TK_FIXED struct tk_plane *planes;
  TK_FIXED struct tk_line *lines;
  TK_FIXED struct tk_wire_clock *clocks;
  const char *TK_FIXED *hosts; /* XPlane hostnames */
  uint32_t n_parts, n_planes, n_lines, n_clocks, n_hosts, n_devices;
  uint64_t n_sequences;                     /* Perfetto */
  uint64_t n_steps, first_step, last_step; /* of the track that has the most */
  struct tk_inspection_impl *impl;
};

/* Of a trace as it was loaded.  NULL = out of memory; no parts if the format has no words for them. */
TK_API struct tk_inspection *tk_inspect(const struct tk_trace *t);
TK_API void tk_inspection_free(struct tk_inspection *p);

#endif
