/* tracekit_report.h - how a run spent its time, on one page. Part of tracekit.h, which includes this file.
 *
 * Strings live as long as the report. docs/analysis.md defines each figure; schemas/job.schema.json gives all figures the
 * names that `check --assert` and `diff --fail-if` use. */
#ifndef TRACEKIT_REPORT_H
#define TRACEKIT_REPORT_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

enum { TK_REPORT_BINS = 480 };
/* Number of bins of a histogram, four for each power of two: bin i begins at (4 + i % 4) << (8 + i / 4) picoseconds. The first
 * and the last bin also count shorter and longer durations. */
enum { TK_REPORT_DURATIONS = 160 };

struct tk_report_options {
  size_t size;
  struct tk_load_options load;
  struct tk_selection select; /* selects device work and a time range */
  bool strips;                /* also compute drawings: strip, delays, over_time and lanes of tk_report_rank, durations of
                               * tk_report_kernel, tk_report.flames */
  bool brief;                 /* compute only device times, steps, peaks of memory, names and versions; launches and tables double
                               * the cost */
  bool keep_going;            /* skip unreadable inputs, with a note */
  const char *thresholds;     /* file of thresholds, as in tk_thresholds_read; NULL = the defaults */
  const struct tk_threshold *limits; /* n_limits thresholds that replace the defaults and the file by id; only id, warning
                                      * and bad are used */
  size_t n_limits;
  const char *const *labels;  /* n_labels names of runs: the i-th applies to all inputs of the i-th name given to tk_sources_open */
  size_t n_labels;
};
#define TK_REPORT_OPTIONS_INIT TK_OPTIONS_INIT(tk_report_options)

/* Division of a time range by the activity of a device. The length of the range is compute + exposed_communication + exposed_copy
 * + exposed_fill + idle. */
struct tk_device_times {
  tk_time window, busy, idle;
  tk_time compute, communication, copy, fill, memory; /* time in which at least one piece of work of the kind ran; memory: copy
                                                       * or fill */
  tk_time overlap;               /* both compute and communication ran */
  tk_time exposed_communication; /* communication ran without compute */
  tk_time exposed_copy;          /* a copy ran without compute or communication */
  tk_time exposed_fill;          /* only a fill ran */
  tk_time idle_host, idle_kernel, idle_other; /* idle time by cause; see tk_report_rank.linked */
};

/* Division of a time range of length `length`, to which the other members add up. Time in which the device was idle is divided by
 * the activity of the host. */
struct tk_report_split {
  tk_time length;
  /* times of the device: computation; communication without computation; copies or fills without either */
  tk_time compute, communication, copy;
  tk_time input;   /* the host loaded input */
  tk_time compile; /* the host compiled */
  tk_time launch;  /* the host was in calls that launch work */
  tk_time runtime; /* the host was in other calls of the device's runtime, such as allocations */
  tk_time sync;    /* the host was in calls that wait for the device */
  tk_time host;    /* the host ran operators, XLA or Python */
  tk_time other;   /* the host slept, waited for a lock, collected garbage or wrote a checkpoint */
  tk_time idle;    /* no activity was recorded, neither of the device nor of the host */
};

struct tk_report_step {
  int64_t number;
  tk_time at;   /* start since the trace's first event */
  tk_time dur;
  bool outlier; /* exceeds the upper quartile by more than 1.5 times the interquartile range */
  struct tk_device_times times;
  /* split of the part that no earlier step covers; length 0 in brief reports, and if there is no such part */
  struct tk_report_split split;
  tk_time gap, gap_at; /* longest idle time of the device in the same part, and its start since the trace's first event */
  double flops;        /* floating-point operations of the work that was launched in the step; 0 = unknown */
  double mfu;          /* time of the operations in `flops` at the device's peak rate / duration of the step; negative = unknown */
  uint64_t collections; /* garbage collections of the host that start in the step; 0 in brief reports */
  tk_time collecting;   /* time of the step in which at least one garbage collection ran */
};

/* Distribution of durations; valid if count > 0. */
struct tk_report_spread {
  uint64_t count, outliers;
  tk_time min, max, mean, p50, p95, deviation;
};

struct tk_report_stream {
  const char *name;
  uint64_t work; /* number of kernels, copies and fills */
  tk_time busy, idle_host, idle_kernel, idle_other; /* idle_*: gaps between pieces of work, by cause */
  uint64_t queue_most;   /* queue length (launched, not yet started), maximum */
  double queue_mean;     /* queue length, mean from the first launch to the last start */
};

/* Spans of one thread at one nesting depth over the report's time range, which is divided into TK_REPORT_BINS parts. */
struct tk_report_lane {
  const char *thread;
  uint32_t depth;                /* 0 = outermost */
  const char *TK_FIXED *names;   /* for each part: name of the span that covers most of the part; NULL = no span */
  TK_FIXED uint16_t *shares;     /* for each part: per-mille share that spans cover */
};

/* One device of a rank; a rank without devices also has one entry. */
struct tk_report_rank {
  int64_t rank;       /* -1 = unknown */
  const char *host;   /* "" = unknown */
  const char *input;
  const char *device; /* "" = the trace contains no device work; all device times are 0 */
  int64_t start_ns;   /* start of the strip on the common timeline; since the epoch if the clock is known */
  tk_time length;     /* length of the strip */
  uint64_t events;    /* spans, instants and counter samples of the rank */
  uint64_t work, linked; /* number of kernels, copies and fills; number of pieces of work whose launch is known (0: causes of
                            idle time and delays are unknown) */
  uint64_t unfinished;   /* spans that never ended; excluded from all times */
  struct tk_device_times times; /* from the start of the first work to the end of the last */
  uint64_t under_10us, under_100us; /* number of kernels shorter than 10 us, and than 100 us */
  tk_time time_under_10us, time_under_100us; /* sums of the durations of these kernels */
  uint64_t kernels;
  tk_time kernel_sum;
  tk_time delay_mean, delay_max; /* from the end of the launching call to the start of the work, at least 0; over linked work */
  tk_time latency_mean;          /* from the start of the call to the start of the work */
  tk_time overhead_mean;         /* from the later of the call's start and the time the stream was free to the start of the work
                                  */
  uint64_t bytes_known; /* number of compute kernels that report their memory traffic (bytes_accessed) */
  double bytes;
  tk_time bytes_time;   /* time in which at least one kernel with known traffic ran */
  double flops;         /* floating-point operations, as the trace states them or as the shapes of operators imply; 0 = unknown */
  uint64_t compilations; /* compilations on the rank's host, excluding those within another compilation */
  tk_time compile;      /* time in which at least one compilation ran */
  uint64_t host_ops, host_only_ops; /* number of outermost operators; number of operators that launched nothing */
  tk_time host_only;    /* sum of the durations of operators that launched nothing */
  uint64_t runtime_calls; /* spans of kind runtime on the rank's host */
  struct tk_report_split split; /* split of the window, or of the whole trace if it contains no device work */
  tk_time gap, gap_at;  /* longest idle time of the device, and its start since the trace's first event */
  uint64_t launch_calls, unrecorded; /* launching calls with a correlation id; number of such calls whose work is missing */
  uint64_t syncs, syncs_in_steps;    /* calls that wait for the device; number of such calls within host_steps */
  uint64_t host_steps;               /* steps of the host; a device may have different steps */
  uint64_t collections; /* garbage collections of the host */
  tk_time collecting;   /* time in which at least one garbage collection ran */
  tk_time collection_max, collection_at; /* duration of the longest collection, and its start since the trace's first event */
  tk_time profiler;     /* time in which the profiler itself worked, if the profiler recorded this; from the first to the last work of
                         * the host's devices, if there is any */
  tk_time profiler_max, profiler_at; /* duration of the longest span of the profiler, and its start since the trace's first event */
  uint64_t compiled_frames; /* functions, and parts of functions between graph breaks, that ran as compiled by torch.compile */
  uint64_t recompilations;  /* largest number of recompilations of one such function or part */
  tk_time pageable;     /* time in which at least one copy from or to pageable memory of the host ran */
  tk_time host_copy;    /* sum of the durations of copies between host and device */
  tk_time fp32_matmul;  /* sum of the durations of matrix products whose kernels compute in fp32 without tensor cores */
  uint64_t gridded;     /* kernels with a recorded number of blocks per multiprocessor */
  tk_time gridded_sum, small_grid; /* sum of the durations of the `gridded` kernels; part of the sum for kernels with less than
                                      one block */
  bool judged;          /* findings were looked for: not in brief reports, and not if a selection excludes work of the device */
  uint64_t findings;    /* number of findings of the report; valid if judged */
  TK_FIXED struct tk_report_step *steps;
  size_t n_steps;
  struct tk_report_spread step; /* step durations */
  TK_FIXED struct tk_report_stream *streams;
  size_t n_streams;
  TK_FIXED uint16_t *strip; /* TK_REPORT_BINS groups of per-mille shares: compute, exposed communication, exposed copies and
                             * fills; or NULL */
  const char *peak_device; /* device model whose peak rates are used, such as "H100 SXM"; "" = unknown */
  double peak_flops;       /* per second, for the types of the operations in `flops`; 0 = unknown */
  double peak_bandwidth;   /* peak bandwidth of the device's memory, in bytes per second; 0 = unknown */
  double mfu;              /* time of the operations at the peak rate / length of the window; negative = unknown */
  double flops_coverage, bytes_coverage; /* share of the durations of compute kernels whose operations or traffic is known;
                                            negative = unknown for all kernels */
  TK_FIXED uint64_t *delays; /* with strips: TK_REPORT_DURATIONS numbers of launches by delay; NULL without, or if none is known */
  tk_time sync_in_steps;   /* sum of the durations of the calls of syncs_in_steps */
  tk_time compute_sum;     /* part of kernel_sum: kernels that are not collectives */
  tk_time before_work;     /* time of the steps before the first recorded work of the device, while unrecorded work may
                            * have run */
  tk_time after_work;      /* time of the steps after the last recorded work of the device */
  uint64_t trailing;       /* part of `unrecorded`: calls after the last launch with recorded work, before that work ended */
  tk_time queued;          /* idle time in gaps of 30 us or more before work that had already been launched when the gap began;
                            * within steps, or in the window if the device did not work in steps */
  uint64_t long_gaps;      /* smallest number of gaps between work, at most 4, that together exceed half of the idle time; 0 =
                              more are needed */
  uint64_t module_recompilations;  /* largest number of recompilations of one XLA module during the steps */
  const char *recompiled_module;   /* name of that module; "" = none; NULL in brief reports */
  bool incomplete;         /* the rank's trace ends early or is damaged, so figures that missing events could change are not findings */
  double operator_bytes_rate; /* bytes per second of the operators that bytes_coverage counts, while their kernels ran; 0 = unknown */
  uint64_t long_ops;       /* names of host operators whose self times on this rank exceed 50 ms */
  bool rank_given;         /* the trace contains no rank; a merge gave it the number `rank` */
  tk_time capturing;       /* idle time during which the host recorded a CUDA or HIP graph; in the same range as `queued` */
  /* Drawings of a host without devices; only with strips. over_time: splits of TK_REPORT_BINS parts of the time range from start_ns;
   * lanes: by thread and depth, at most 8 threads and 8 depths. */
  TK_FIXED struct tk_report_split *over_time;
  TK_FIXED struct tk_report_lane *lanes;
  size_t n_lanes;
  uint64_t other_threads, deeper_spans; /* number of threads and of spans that the lanes leave out */
  tk_time unrecorded_at; /* start of the first launching call whose work is missing, since the trace's first event; valid if
                          * unrecorded > 0 */
  const char *run; /* name of the run, if several inputs have the same rank (or host without rank): the folder or file at which the
                    * paths of the inputs differ; otherwise "" */
  tk_time idle_after_waits; /* idle time that began while the host was in a call that waits for the device, except time in which the
                             * host loaded input or compiled; in the same range as `queued` */
};

struct tk_report_kernel {
  const char *name;
  size_t name_len;
  const char *kind; /* "compute", "communication", "copy", "fill" */
  uint64_t count;
  struct tk_total total;
  tk_time min, max, mean;
  tk_time max_at;   /* start of the longest piece of work, since the first event of its trace */
  int64_t max_rank; /* rank of the longest piece of work; -1 = unknown */
  double of_sum; /* share of the time of all work, 0..1; -1 for work on a TPU's asynchronous lines, which runs in parallel to the
                  * operations; waiting for it is an operation */
  uint64_t bytes_known; /* number of copies and fills that report their size */
  double bytes;  /* sum of the reported sizes */
  tk_time bytes_time; /* sum of the durations of copies and fills that report their size */
  const char *short_name;   /* short readable name, unique in this table; otherwise the full name */
  size_t short_len;
  const char *kernel_class; /* "matmul", "attention", ...; docs/analysis.md lists all */
  double occupancy, registers, shared; /* means over time: occupancy in percent, registers per thread, bytes of shared memory per block;
                                        * negative = unknown */
  const char *grid, *block; /* launch geometry of the longest kernel: "8,1,1"; "" = unknown */
  TK_FIXED uint64_t *durations; /* with strips: TK_REPORT_DURATIONS numbers of kernels; otherwise NULL */
};

/* Launching calls of one name, with all work that they launched. */
struct tk_report_launch {
  const char *name;
  uint64_t work;
  struct tk_total call_sum, work_sum; /* sums of durations; a call counts once, however many pieces of work it launched */
  struct tk_total delay_sum;
  tk_time delay_max;
  uint64_t calls; /* number of calls that launched the work */
};

/* Collectives of one name. */
struct tk_report_collective {
  const char *name;
  uint64_t count;  /* number of kernels on all ranks */
  uint64_t sized;  /* number of kernels that report their bytes and group size; bus_bytes covers only these */
  double bytes;    /* sum over the kernels whose bytes are known */
  struct tk_total total, sized_total; /* sums of durations, including the time spent waiting for other ranks */
  double bus_bytes;     /* bytes times the bus-bandwidth factor; divided by sized_total: a lower bound of the link's bandwidth
                         */
  uint64_t met;    /* number of collectives found on two or more ranks; the fields below cover only these */
  struct tk_total core; /* sum of the shortest duration of each collective */
  struct tk_total wait; /* sum over ranks of the time from the rank's arrival to the last arrival */
  double core_bus_bytes;
  uint64_t core_sized;
  struct tk_total core_time; /* core of the collectives with known sizes */
  uint64_t bytes_known; /* number of kernels whose bytes are known */
};

/* Collectives of one rank: how long the rank waited, and how much it delayed others by arriving last. */
struct tk_report_meeting {
  int64_t rank;
  uint64_t met, last;      /* last: collectives in which the rank arrived later than all others */
  double chance, variance; /* mean and variance of `last` if each rank of a collective were last with equal probability */
  struct tk_total wait; /* time until the last rank arrived */
  struct tk_total cost; /* delay after the second-to-last arrival, over the collectives in which this rank was last */
  struct tk_total peer_cost; /* mean of the costs of the other ranks in the same collectives */
  tk_time delay;             /* largest cost of one collective; 0 = the rank was never last */
  tk_time delay_at, delay_length; /* from the arrival of the next-to-last rank to the end of this collective; delay_at: since the first
                              * event of the rank's trace */
};

struct tk_report_memory {
  int64_t rank;
  const char *allocator; /* "GPU 0", "cpu" */
  double peak_allocated, peak_reserved; /* bytes; negative = unknown */
  double capacity; /* bytes of the device, or the limit of the allocator; negative = unknown */
  tk_time at; /* time of the peak since the trace's first event */
  double reserved_at_peak;    /* bytes that were reserved at that time; negative = unknown */
  TK_FIXED double *over_time; /* with strips: TK_REPORT_BINS highest amounts of allocated bytes in parts of the report's time range;
                               * negative = unknown; NULL without */
};

/* Memory in use at the peak of an allocator that one operator or line of code had allocated. */
struct tk_report_held {
  int64_t rank;           /* -1 = unknown */
  const char *allocator;
  const char *op, *module; /* operator or line of code that allocated the memory, and module around it; "" = unknown */
  uint64_t blocks;
  double bytes, peak;     /* peak: all bytes that the allocator had allocated */
  bool recorded;          /* false: this row is the rest, which was allocated before the recording began */
};

/* Host spans of one name: operators, XLA, Python, calls of the device's runtime or the operating system. */
struct tk_report_op {
  const char *name;
  size_t name_len;
  const char *kind; /* "operator", "python", "system", "launch", "runtime", "sync", "input", "compile", "wait", "checkpoint" or
                     * "garbage collection" */
  uint64_t count;
  struct tk_total total, self; /* self: time in which a span was the innermost of its thread */
  tk_time min, max, mean;
  double of_sum;    /* share of the self time of all rows, 0..1 */
  tk_time per_step; /* self time within steps, divided by the number of steps of all hosts */
  bool has_steps;   /* per_step is known */
};

/* Work of devices by operator: the operator of a framework around the call that launched the work, or the instruction of XLA that the
 * work is. Excludes the asynchronous lines of TPUs. */
struct tk_report_device_op {
  const char *name;        /* NULL = all work without an operator */
  size_t name_len;
  const char *category;    /* HLO category if the trace contains it; otherwise the class of the work, such as "matmul", "copy"
                              or "collective"; the one with the most time */
  uint64_t calls, work;    /* calls: operators that launched work, or executed instructions; work: kernels, copies and fills */
  struct tk_total device;  /* sum of the durations of the work */
  double of_work;          /* share of the durations of all work, 0..1 */
  bool has_host;           /* the host also recorded operators of this name */
  struct tk_total host_self; /* self time of these operators */
  uint64_t host_count;     /* number of these operators */
};

/* Annotations, modules and steps on hosts that have one path of names; all steps count as one name. */
struct tk_report_annotation {
  const char *name;
  size_t name_len;
  uint32_t depth;              /* 0 = outermost; the rows are in preorder */
  uint64_t count;
  struct tk_total total, self; /* self: total minus the annotations directly within */
  tk_time mean;
  double of_parent;            /* share of the total of the row around it, 0..1 */
};

/* Layers of one path of names, as with tk_tree_options.layers, added up over all traces. */
struct tk_report_layer {
  const char *name;        /* NULL = all work outside of layers */
  size_t name_len;
  const char *kind;        /* what the layers are: "scopes", "modules" or "annotations" */
  uint32_t depth;          /* 0 = outermost; the rows are in preorder */
  uint64_t count, launched; /* as in tk_tree_node */
  struct tk_total total;
  struct tk_total device;  /* time in which any device of a trace ran work of the layer */
  double of_work;          /* share of the time in which any device ran work, 0..1 */
  tk_time per_step;        /* device time divided by the number of steps; negative = a trace has no steps */
};

/* Operators of one name and type whose operations or memory traffic are known. */
struct tk_report_roof {
  const char *name;
  size_t name_len;
  const char *type;     /* type of the arithmetic: "bf16", "tf32", ...; "" = unknown */
  const char *device;   /* as tk_report_rank.peak_device */
  const char *source;   /* "trace" if the trace states the operations, "shapes" if they follow from shapes */
  uint64_t count, kernels;
  struct tk_total total; /* sum of the durations of the operators' kernels */
  double flops, bytes;   /* negative = unknown */
  double flops_rate, bytes_rate; /* operations and bytes per second of `total`; 0 = unknown */
  double peak_flops, peak_bandwidth; /* per second; 0 = unknown */
  const char *bound;     /* "compute" or "memory", whichever takes longer at the peak; "" = unknown */
};

/* A range of time in which a device was idle. */
struct tk_report_gap {
  int64_t rank;           /* -1 = unknown */
  const char *device, *input;
  tk_time at, length;     /* at: start since the first event of the trace */
  const char *cause;      /* "host" (the launching call returned late), "kernel" or "other"; "" = unknown */
  const char *before, *after;             /* names of the work that ended last before the gap, and that started after it */
  const char *short_before, *short_after; /* these names, shortened */
  const char *host_span;  /* name of the innermost spans of the host that cover at least half of the gap on one thread; "" = none */
  tk_time host_time;      /* time that these spans cover; without a name, the longest time that spans of one name cover; -1 =
                             not searched */
};

/* A compilation on a host, including the work of compiler threads at the same time. */
struct tk_report_compilation {
  int64_t rank;         /* -1 = unknown */
  const char *input;
  tk_time at, length;   /* at: start since the first event of the trace */
  int64_t step;         /* number of the step in which the compilation started; valid if has_step */
  bool has_step;
  const char *module;   /* compiled module of XLA, such as "jit_step"; "" = unknown */
  const char *function; /* function that JAX compiled; "" = unknown */
  const char *name;     /* name of the outermost span of the compilation */
};

/* A function in stack samples, as in tk_top_row. Weights in a unit other than time: 1 ns means 1 unit. */
struct tk_report_function {
  const char *name;
  size_t name_len;
  const char *unit;     /* unit of the weights, such as "samples"; "" = time */
  uint64_t samples;     /* samples whose stack contains the function */
  struct tk_total self, total; /* self: weight of the samples whose innermost frame is the function; total: weight of the
                                  samples whose stack contains it */
  double self_of_sum, total_of_sum; /* shares of the weight of all samples in this unit */
};

/* A box of a flame graph. Boxes are in preorder; boxes narrower than a thousandth of the graph are left out. */
struct tk_report_flame {
  const char *name;
  size_t name_len;
  bool sampled;         /* true: functions in stack samples; false: spans of hosts */
  const char *unit;     /* unit of `total`, as in tk_report_function; "" = time */
  uint32_t depth;       /* 0 = outermost */
  uint64_t count;       /* number of spans, or of samples */
  struct tk_total total;
  double start, width;  /* position and width, relative to the width of the graph */
};

/* A figure beyond its threshold. */
struct tk_report_finding {
  const char *id;       /* "device-idle"; tk_thresholds lists all */
  const char *severity; /* "bad" or "warning" */
  const char *text;     /* sentence with the figure, the threshold and the place */
  const char *advice;   /* sentence: what to do or run next */
  double figure, threshold;
  const char *unit;     /* unit of `figure` and `threshold`: "%", "s", "x", "" */
  int64_t rank;         /* -1 = unknown, or the whole job */
  const char *device, *input; /* "" = none in particular */
  int64_t step;         /* number of the step; valid if has_step */
  tk_time at, length;   /* time range since the trace's first event; length -1 = none in particular */
  bool has_step;
};

/* A key figure of the job, judged by fixed limits (docs/analysis.md). */
struct tk_report_figure {
  const char *name, *unit; /* "device utilization", "%" */
  double value;
  const char *verdict;     /* "good", "warning", "bad"; "" = not judged */
  const char *good;        /* range of good values: "at least 80"; "" = there is no limit */
  int64_t rank;            /* rank of the device or host with this value; -1 = unknown, or the whole job */
  const char *device;      /* device with this value; "" = the value is that of a host or of the whole job */
  bool known;              /* the traces contain the figure; otherwise `value` is 0 */
  const char *run;         /* run of the rank, as in tk_report_rank; "" = not named, or the whole job */
};

struct tk_report {
  TK_FIXED struct tk_report_finding *findings; /* most severe first; none in brief reports */
  size_t n_findings;
  TK_FIXED struct tk_report_rank *ranks;
  size_t n_ranks;
  TK_FIXED struct tk_report_kernel *kernels; /* all work by name, largest total first */
  size_t n_kernels;
  TK_FIXED struct tk_report_launch *launches;
  size_t n_launches;
  TK_FIXED struct tk_report_collective *collectives;
  size_t n_collectives;
  TK_FIXED struct tk_report_meeting *meetings; /* by rank; empty if collectives could not be compared */
  size_t n_meetings;
  uint64_t met; /* number of collectives with two or more ranks */
  TK_FIXED struct tk_report_op *ops; /* largest self time first; none in brief reports */
  size_t n_ops;
  TK_FIXED struct tk_report_annotation *annotations;
  size_t n_annotations;
  TK_FIXED struct tk_report_memory *memories;
  size_t n_memories;
  const char *TK_FIXED *devices; /* distinct accelerator names */
  size_t n_devices;
  const char *TK_FIXED *versions; /* "PyTorch 2.4", if the traces record it */
  size_t n_versions;
  const char *unjudged; /* why no figure could be a finding; NULL = findings were looked for */
  const char *TK_FIXED *unknown; /* sentences about facts that the traces do not record */
  size_t n_unknown;
  const char *format;   /* format of the first trace */
  uint64_t inputs;
  struct tk_total work; /* sum of the durations of all work, except work on a TPU's asynchronous lines */
  struct tk_diagnostics *notes;
  struct tk_report_impl *impl;
  TK_FIXED struct tk_report_gap *gaps; /* longest idle times of each device; none in brief reports */
  size_t n_gaps;
  TK_FIXED struct tk_report_roof *roofs; /* operators with known operations or traffic, largest total first */
  size_t n_roofs;
  TK_FIXED struct tk_report_figure *figures; /* none in brief reports */
  size_t n_figures;
  TK_FIXED struct tk_report_held *held; /* by rank and allocator, most bytes first; none in brief reports */
  size_t n_held;
  TK_FIXED struct tk_report_compilation *compilations; /* longest first, at most 100 of a rank; none in brief reports */
  size_t n_compilations;
  const char *step_name; /* name of the spans that mark steps, with * for numbers; NULL = none, bare numbers, or different ones */
  TK_FIXED struct tk_report_layer *layers; /* in preorder, most device time first; none in brief reports and without device work */
  size_t n_layers;
  TK_FIXED struct tk_report_function *functions; /* functions in stack samples, by unit, largest self weight first; none in
                                                    brief reports */
  size_t n_functions;
  uint64_t samples; /* number of stack samples that `functions` counts */
  TK_FIXED struct tk_report_device_op *device_ops; /* most device time first; none in brief reports */
  size_t n_device_ops;
  TK_FIXED struct tk_report_flame *flames; /* spans first, then samples by unit; only with strips */
  size_t n_flames;
};

/* Threshold of a finding: a figure of at least `warning` is a finding, of at least `bad` a severe one. */
struct tk_threshold {
  const char *id, *unit;
  double warning, bad; /* INFINITY = never */
  const char *help;    /* meaning of the figure */
};
/* Returns the default thresholds, and sets *n to their number. */
TK_EXPERIMENTAL const struct tk_threshold *tk_thresholds(size_t *n);
/* Copies the default thresholds to `limits`, which has room for n of them (as many as tk_thresholds has), and applies a file with lines
 * such as "device-idle = 20 50", for a warning and a severe finding, or "device-idle = off"; # begins a comment. Returns false with
 * err, which names the file and the line, if the file cannot be read or is invalid. */
TK_EXPERIMENTAL bool tk_thresholds_read(const char *file, struct tk_threshold *limits, size_t n, struct tk_err *err);

/* Returns the name of the i-th key figure, as in tk_report.figures, and sets *unit to its unit: "%", "ms", "s" or "". Returns NULL
 * past the end. */
TK_EXPERIMENTAL const char *tk_key_figure(size_t i, const char **unit);

/* Reports on all traces of the sources, with one trace in memory at a time. With several traces, collectives are compared;
 * large traces are then read twice. The caller frees the report even on failure. */
TK_EXPERIMENTAL bool tk_report_sources(struct tk_sources *s, const struct tk_report_options *opt, struct tk_report **report,
                                       struct tk_err *err);
/* Reports on one loaded trace. */
TK_EXPERIMENTAL bool tk_report_trace(struct tk_trace *t, const struct tk_report_options *opt, struct tk_report **report,
                                     struct tk_err *err);
TK_EXPERIMENTAL void tk_report_free(struct tk_report *report);

#endif
