/* report_fields.c - fields of a report and its rows (report_fields.h).
 *
 * The fields of a rank are also the values that `check --assert` and `diff --fail-if` can test. docs/analysis.md defines them. */
#include "report_fields.h"

/* ---- known values ---- */

FIELD_KNOWN(has_device, tk_report_rank, *r->device != 0)

static bool is_linked(const void *row, const void *owner) {
  const struct tk_report_rank *r = row;
  return r->linked > 0 && has_device(row, owner);
}

FIELD_KNOWN(host_is_linked, tk_report_rank, r->linked > 0)
/* True if the trace links device work to the operators that launched it. */
FIELD_KNOWN(ops_are_linked, tk_report_rank, r->linked > 0 && (r->host_ops == 0 || r->host_only_ops < r->host_ops))
FIELD_KNOWN(rank_is_known, tk_report_rank, r->rank >= 0)
FIELD_KNOWN(has_host, tk_report_rank, *r->host != 0)
FIELD_KNOWN(has_run, tk_report_rank, *r->run != 0)
FIELD_KNOWN(has_bytes, tk_report_rank, r->bytes_known > 0)
FIELD_KNOWN(has_flops, tk_report_rank, r->flops > 0)
FIELD_KNOWN(has_peak_flops, tk_report_rank, r->peak_flops > 0)
FIELD_KNOWN(has_peak_device, tk_report_rank, r->peak_device && *r->peak_device)
FIELD_KNOWN(has_split, tk_report_rank, r->split.length > 0)
FIELD_KNOWN(has_gap, tk_report_rank, r->gap > 0)
FIELD_KNOWN(has_recompiled, tk_report_rank, r->module_recompilations > 0)
FIELD_KNOWN(has_collections, tk_report_rank, r->collections > 0)
FIELD_KNOWN(has_calls, tk_report_rank, r->launch_calls > 0)
FIELD_KNOWN(has_grids, tk_report_rank, r->gridded > 0)
FIELD_KNOWN(is_judged, tk_report_rank, r->judged)
FIELD_KNOWN(has_steps, tk_report_rank, r->step.count > 0)
FIELD_KNOWN(host_has_steps, tk_report_rank, r->host_steps > 0)

static bool owner_has_device(const void *row, const void *owner) {
  (void)row;
  return has_device(owner, NULL);
}

static bool owner_has_collections(const void *row, const void *owner) {
  (void)row;
  return has_collections(owner, NULL);
}

static bool owner_is_linked(const void *row, const void *owner) {
  (void)row;
  return host_is_linked(owner, NULL);
}

/* ---- computed fields ---- */

static bool share_of(struct tk_value *v, tk_time part, tk_time whole) {
  return field_number(v, whole > 0 ? 100 * (double)part / (double)whole : 0, whole > 0);
}

/* Defines the function get_NAME, which returns a percentage of a device's time. */
#define SHARE(name, part, whole)                                                             \
  static bool get_##name(const void *row, const void *owner, struct tk_value *v) {           \
    const struct tk_device_times *t = &((const struct tk_report_rank *)row)->times;          \
    return share_of(v, t->part, t->whole) && has_device(row, owner);                         \
  }

SHARE(busy_share, busy, window)
SHARE(idle_share, idle, window)
SHARE(compute_share, compute, window)
SHARE(communication_share, communication, window)
SHARE(exposed_communication_share, exposed_communication, window)
SHARE(memory_share, memory, window)
SHARE(overlap_share, overlap, communication)

static tk_time non_compute(const void *row) {
  const struct tk_device_times *t = &((const struct tk_report_rank *)row)->times;
  return t->busy - t->compute;
}

static bool get_non_compute(const void *row, const void *owner, struct tk_value *v) {
  return field_time(v, non_compute(row), has_device(row, owner));
}

static bool get_non_compute_share(const void *row, const void *owner, struct tk_value *v) {
  return share_of(v, non_compute(row), ((const struct tk_report_rank *)row)->times.window) && has_device(row, owner);
}

/* Stores the rate in 10^9 bytes per second. The rate is unknown if the bytes or the time are unknown. */
static bool rate(struct tk_value *v, double bytes, double seconds) {
  const bool known = bytes > 0 && seconds > 0;
  return field_number(v, known ? bytes / seconds / 1e9 : 0, known);
}

static bool get_bandwidth(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_rank *r = row;
  (void)owner;
  const bool known = r->bytes_known > 0 && r->bytes_time > 0;
  return field_number(v, known ? r->bytes / ((double)r->bytes_time / 1e12) / 1e9 : 0, known);
}

static bool get_flops_rate(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_rank *r = row;
  const bool known = has_flops(row, owner) && r->times.window > 0;
  return field_number(v, known ? r->flops / ((double)r->times.window / 1e12) : 0, known);
}

/* Defines the function get_NAME, which returns a share as a percentage; a negative share is unknown. */
#define KNOWN_SHARE(name, row_type, member)                                         \
  static bool get_##name(const void *row, const void *owner, struct tk_value *v) {  \
    const double share = ((const struct row_type *)row)->member;                    \
    (void)owner;                                                                    \
    return field_number(v, 100 * share, share >= 0);                                \
  }
static bool get_operator_bandwidth(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return rate(v, ((const struct tk_report_rank *)row)->operator_bytes_rate, 1);
}

KNOWN_SHARE(mfu, tk_report_rank, mfu)
KNOWN_SHARE(flops_coverage, tk_report_rank, flops_coverage)
KNOWN_SHARE(bytes_coverage, tk_report_rank, bytes_coverage)

static bool get_peak_bandwidth(const void *row, const void *owner, struct tk_value *v) {
  const double peak = ((const struct tk_report_rank *)row)->peak_bandwidth;
  (void)owner;
  return field_number(v, peak / 1e9, peak > 0);
}

/* ---- ranks ---- */

#define TIME(m, name, help) FIELD_TIME_IF(tk_report_rank, m, name, has_device, help)
#define LINKED(m, name, help) FIELD_TIME_IF(tk_report_rank, m, name, is_linked, help)
#define COUNT(m, name, help) FIELD_IF(tk_report_rank, COUNT, m, name, has_device, help)

static const struct tk_field rank_list[] = {
  FIELD_IF(tk_report_rank, INT, rank, "rank", rank_is_known, "rank in the job; null if unknown"),
  FIELD(tk_report_rank, BOOL, rank_given, "rank_given", "true if the trace contains no rank, and a merge gave it this number"),
  FIELD_IF(tk_report_rank, TEXT, host, "host", has_host, "host of the rank; null if unknown"),
  FIELD(tk_report_rank, TEXT, input, "input", "file that contains the rank"),
  FIELD_IF(tk_report_rank, TEXT, run, "run", has_run,
    "run of the rank; null unless several inputs have the same rank or host, or runs have labels"),
  FIELD_IF(tk_report_rank, TEXT, device, "device", has_device,
    "accelerator, such as GPU 0; null if the trace contains no device work"),
  FIELD(tk_report_rank, COUNT, events, "events", "spans, instants and counter samples of the rank"),
  FIELD_TIME(tk_report_rank, length, "length_ns", "from the start of the trace's first event to the end of its last one"),
  TIME(times.window, "window_ns", "active window: from the start of the device's first work to the end of its last"),
  TIME(times.busy, "busy_ns", "time during which at least one kernel, copy or fill ran"),
  TIME(times.idle, "idle_ns", "time during which nothing ran"),
  TIME(times.compute, "compute_ns", "time during which at least one kernel other than a collective ran"),
  FIELD_GET_IF(TIME, NS, "non_compute_ns", get_non_compute, "time during which something ran, but no computation"),
  TIME(times.communication, "communication_ns", "time during which at least one collective ran"),
  TIME(times.memory, "memory_ns", "time during which at least one copy or fill ran"),
  TIME(times.copy, "copy_ns", "time during which at least one copy ran"),
  TIME(times.fill, "fill_ns", "time during which at least one fill ran"),
  TIME(times.overlap, "overlap_ns", "time of simultaneous computation and communication"),
  TIME(times.exposed_communication, "exposed_communication_ns", "time of communication without computation"),
  TIME(times.exposed_copy, "exposed_copy_ns", "time of copying without computation or communication"),
  TIME(times.exposed_fill, "exposed_fill_ns", "time of filling memory while nothing else ran"),
  LINKED(times.idle_host, "idle_host_ns",
    "idle time during which the next work had not been launched when the device became idle"),
  LINKED(times.idle_kernel, "idle_kernel_ns", "idle time of less than 30 us between kernels that were launched in time"),
  LINKED(times.idle_other, "idle_other_ns", "idle time for other reasons, or before work whose launch is unknown"),
  FIELD_GET_IF(NUMBER, PERCENT, "device_busy_percent", get_busy_share,
    "busy time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "device_idle_percent", get_idle_share, "idle time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "compute_percent", get_compute_share, "compute time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "non_compute_percent", get_non_compute_share, "non_compute time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "communication_percent", get_communication_share,
    "communication time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "exposed_communication_percent", get_exposed_communication_share,
    "exposed communication as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "memory_percent", get_memory_share, "memory time as a percentage of the window"),
  FIELD_GET_IF(NUMBER, PERCENT, "overlap_percent", get_overlap_share, "overlap as a percentage of communication time"),
  COUNT(work, "work", "number of kernels, copies and fills"),
  COUNT(linked, "linked", "number of kernels, copies and fills whose launch is known"),
  COUNT(unfinished, "unfinished", "number of kernels, copies and fills that never ended; excluded from all times"),
  COUNT(kernels, "kernels", "number of kernels, including collectives"),
  TIME(kernel_sum, "kernel_sum_ns", "sum of the durations of kernels"),
  TIME(compute_sum, "compute_sum_ns", "part of kernel_sum_ns: kernels other than collectives"),
  COUNT(under_10us, "kernels_under_10us", "number of kernels shorter than 10 us"),
  TIME(time_under_10us, "time_under_10us_ns", "sum of the durations of these kernels"),
  COUNT(under_100us, "kernels_under_100us", "number of kernels shorter than 100 us"),
  TIME(time_under_100us, "time_under_100us_ns", "sum of the durations of these kernels"),
  LINKED(delay_mean, "launch_delay_mean_ns",
    "mean delay from the end of the launching call to the start of the work, at least 0"),
  LINKED(delay_max, "launch_delay_max_ns", "longest delay from the end of the launching call to the start of the work"),
  LINKED(latency_mean, "launch_latency_mean_ns", "mean delay from the start of the launching call to the start of the work"),
  LINKED(overhead_mean, "launch_overhead_mean_ns",
    "mean delay from max(start of the call, stream free) to the start of the work"),
  FIELD_NUMBER_IF(tk_report_rank, BYTES, bytes, "bytes_accessed", has_bytes, "bytes read and written, as recorded by the work"),
  FIELD_GET_IF(NUMBER, GB_PER_S, "memory_gb_per_s", get_bandwidth,
    "bytes_accessed divided by the time during which work that records its bytes ran"),
  FIELD_IF(tk_report_rank, NUMBER, flops, "flops", has_flops,
    "floating-point operations, as the trace states them or as the shapes of operators imply"),
  FIELD_GET_IF(NUMBER, NONE, "flops_per_second", get_flops_rate, "flops divided by the window"),
  FIELD_IF(tk_report_rank, NUMBER, peak_flops, "peak_flops_per_second", has_peak_flops,
    "peak of the device for the data types of the operations in flops"),
  FIELD_GET_IF(NUMBER, PERCENT, "mfu_percent", get_mfu, "share of the window that the operations in flops would take at the peak"),
  FIELD_GET_IF(NUMBER, PERCENT, "flops_coverage_percent", get_flops_coverage,
    "share of the durations of compute kernels whose operations are known"),
  FIELD_GET_IF(NUMBER, PERCENT, "bytes_coverage_percent", get_bytes_coverage,
    "share of the durations of compute kernels whose memory traffic is known"),
  FIELD_GET_IF(NUMBER, GB_PER_S, "operators_gb_per_s", get_operator_bandwidth,
    "known memory traffic of compute kernels divided by the durations of these kernels"),
  FIELD_IF(tk_report_rank, TEXT, peak_device, "peak_device", has_peak_device, "device whose peaks are used; null if unknown"),
  FIELD_GET_IF(NUMBER, GB_PER_S, "peak_gb_per_s", get_peak_bandwidth, "peak bandwidth of the device's memory"),
  FIELD(tk_report_rank, COUNT, compilations, "compilations",
    "number of outermost host spans that compile programs, excluding spans within the time of another compilation"),
  FIELD_TIME(tk_report_rank, compile, "compile_ns", "time during which the host compiled, on any thread"),
  FIELD(tk_report_rank, COUNT, host_ops, "host_ops", "number of outermost host operators"),
  FIELD_IF(tk_report_rank, COUNT, host_only_ops, "host_only_ops", ops_are_linked,
    "number of outermost host operators that launched no work; null if no work is linked to an operator"),
  FIELD_TIME_IF(tk_report_rank, host_only, "host_only_ns", ops_are_linked, "sum of the durations of these operators"),
  FIELD(tk_report_rank, COUNT, runtime_calls, "runtime_calls", "number of calls of the device's runtime and driver"),
  FIELD(tk_report_rank, COUNT, syncs, "blocking_calls", "number of calls that wait for the device"),
  FIELD_IF(tk_report_rank, COUNT, syncs_in_steps, "blocking_calls_in_steps", host_has_steps,
    "number of blocking calls within steps of the host"),
  FIELD_TIME_IF(tk_report_rank, sync_in_steps, "blocking_in_steps_ns", host_has_steps, "sum of the durations of these calls"),
  FIELD(tk_report_rank, COUNT, host_steps, "host_steps", "number of steps of the host; a device may have a different number"),
  FIELD_IF(tk_report_rank, COUNT, launch_calls, "launch_calls", has_calls, "number of launching calls with a correlation id"),
  FIELD_IF(tk_report_rank, COUNT, unrecorded, "unrecorded_launches", has_calls,
    "number of these calls whose work was not recorded"),
  FIELD_IF(tk_report_rank, COUNT, trailing, "trailing_launches", has_calls,
    "number of these calls after the last launch with recorded work, and before that work ended"),
  FIELD(tk_report_rank, COUNT, collections, "garbage_collections", "number of garbage collections of the host"),
  FIELD_TIME(tk_report_rank, collecting, "garbage_collection_ns", "time during which at least one garbage collection ran"),
  FIELD_TIME_IF(tk_report_rank, collection_max, "garbage_collection_max_ns", has_collections, "longest garbage collection"),
  FIELD_TIME(tk_report_rank, profiler, "profiler_ns",
    "time in which the profiler itself worked between the first and the last work of the host's devices, if it recorded this"),
  FIELD(tk_report_rank, COUNT, compiled_frames, "compiled_frames",
    "number of functions, and of parts of functions between graph breaks, that ran as compiled by torch.compile"),
  FIELD(tk_report_rank, COUNT, recompilations, "recompilations", "largest number of recompilations of one of these"),
  FIELD(tk_report_rank, COUNT, module_recompilations, "module_recompilations",
    "largest number of recompilations of one XLA module in the steps"),
  FIELD_IF(tk_report_rank, TEXT, recompiled_module, "recompiled_module", has_recompiled,
    "module with the most recompilations; null if none was recompiled"),
  TIME(pageable, "pageable_copy_ns", "time during which at least one copy from or to pageable memory ran"),
  TIME(host_copy, "host_copy_ns", "sum of the durations of copies between host and device"),
  TIME(fp32_matmul, "fp32_matmul_ns",
    "sum of the durations of matrix products and convolutions whose kernels, by their names, compute in fp32 without tensor cores"),
  FIELD_TIME_IF(tk_report_rank, small_grid, "small_grid_ns", has_grids,
    "sum of the durations of kernels with less than one block per multiprocessor"),
  FIELD_TIME_IF(tk_report_rank, gap, "longest_idle_ns", has_gap, "longest time during which the device was idle"),
  FIELD_TIME_IF(tk_report_rank, gap_at, "longest_idle_at_ns", has_gap,
    "start of the longest idle time since the first event of the trace"),
  FIELD_TIME_IF(tk_report_rank, before_work, "before_work_ns", has_gap,
    "time of the steps before the first recorded work of the device, while unrecorded work may have run"),
  FIELD_TIME_IF(tk_report_rank, after_work, "after_work_ns", has_gap,
    "time of the steps after the last recorded work of the device"),
  LINKED(queued, "queued_idle_ns",
    "idle time of the steps, or of the window without steps, during which the next work had already been launched, for 30 us or "
    "more"),
  FIELD_TIME_IF(tk_report_rank, idle_after_waits, "idle_after_waits_ns", has_gap,
    "idle time, in the same range as queued_idle_ns, that began while the host was in a call that waits for the device, except time in "
    "which the host loaded input or compiled"),
  FIELD_TIME_IF(tk_report_rank, capturing, "capturing_ns", has_gap,
    "idle time, in the same range as queued_idle_ns, during which the host recorded a CUDA or HIP graph"),
  FIELD_IF(tk_report_rank, COUNT, long_gaps, "long_gaps", has_gap,
    "smallest number of gaps between work, at most 4, that together exceed half of the idle time; 0 if more are needed"),
  FIELD(tk_report_rank, BOOL, incomplete, "incomplete", "true if the trace ends early or is damaged"),
  FIELD_IF(tk_report_rank, COUNT, findings, "findings", is_judged, "number of findings of the report"),
  {.name = "split", .help = "what the window consists of; of the whole trace if the trace contains no device work",
    .type = TK_TYPE_ROW, .of = TK_ROW_REPORT_SPLIT, .unknown = TK_UNKNOWN_NULL, .known = has_split,
    FIELD_MEMBER(tk_report_rank, split)},
  {.name = "step", .help = "durations of the steps; null if no step is marked", .type = TK_TYPE_ROW, .of = TK_ROW_REPORT_SPREAD,
    .unknown = TK_UNKNOWN_NULL, .known = has_steps, FIELD_MEMBER(tk_report_rank, step)},
  FIELD_ROWS(tk_report_rank, TK_ROW_REPORT_STEP, steps, n_steps, "steps", "each marked step"),
  FIELD_ROWS(tk_report_rank, TK_ROW_REPORT_STREAM, streams, n_streams, "streams", "each queue of the device"),
};
const struct field_list report_rank_fields = FIELD_LIST(tk_report_rank, rank_list, "report rank");

static const struct tk_field spread_list[] = {
  FIELD(tk_report_spread, COUNT, count, "count", "number of steps"),
  FIELD(tk_report_spread, COUNT, outliers, "outliers", "number of steps that are outliers"),
  FIELD_TIME(tk_report_spread, min, "min_ns", "shortest duration"),
  FIELD_TIME(tk_report_spread, max, "max_ns", "longest duration"),
  FIELD_TIME(tk_report_spread, mean, "mean_ns", "mean duration"),
  FIELD_TIME(tk_report_spread, p50, "p50_ns", "median duration"),
  FIELD_TIME(tk_report_spread, p95, "p95_ns", "95th percentile of the durations"),
  FIELD_TIME(tk_report_spread, deviation, "deviation_ns", "standard deviation of the durations"),
};
const struct field_list report_spread_fields = FIELD_LIST(tk_report_spread, spread_list, "report spread");

/* ---- findings ---- */

FIELD_KNOWN(finding_has_rank, tk_report_finding, r->rank >= 0)
FIELD_KNOWN(finding_has_device, tk_report_finding, *r->device != 0)
FIELD_KNOWN(finding_has_input, tk_report_finding, *r->input != 0)
FIELD_KNOWN(finding_has_step, tk_report_finding, r->has_step)
FIELD_KNOWN(finding_has_time, tk_report_finding, r->length >= 0)

static const struct tk_field finding_list[] = {
  FIELD(tk_report_finding, TEXT, severity, "severity", "bad or warning"),
  FIELD(tk_report_finding, TEXT, id, "id", "name of the finding and its threshold"),
  FIELD(tk_report_finding, TEXT, text, "text", "sentence with the figure, the threshold and the place"),
  FIELD(tk_report_finding, TEXT, advice, "advice", "what to do or run next"),
  FIELD(tk_report_finding, NUMBER, figure, "figure", "value that reached the threshold"),
  FIELD(tk_report_finding, NUMBER, threshold, "threshold", "threshold of this severity"),
  FIELD(tk_report_finding, TEXT, unit, "unit", "unit of figure and threshold: %, s, x (a ratio), or empty for counts"),
  FIELD_IF(tk_report_finding, INT, rank, "rank", finding_has_rank,
    "rank in the job; null if unknown, or if the finding is not about one rank"),
  FIELD_IF(tk_report_finding, TEXT, device, "device", finding_has_device, "accelerator; null if the finding is not about one"),
  FIELD_IF(tk_report_finding, TEXT, input, "input", finding_has_input, "file that shows it; null if the finding is not about one"),
  FIELD_IF(tk_report_finding, INT, step, "step", finding_has_step, "number of the step that shows the finding best; null if none"),
  FIELD_TIME_IF(tk_report_finding, at, "at_ns", finding_has_time,
    "start of the time range that shows the finding, since the first event of the trace; null if there is none"),
  FIELD_TIME_IF(tk_report_finding, length, "length_ns", finding_has_time, "length of that time range"),
};
const struct field_list report_finding_fields = FIELD_LIST(tk_report_finding, finding_list, "report finding");

static const struct tk_field split_list[] = {
  FIELD_TIME(tk_report_split, length, "length_ns", "length of the time range, which the other values add up to"),
  FIELD_TIME(tk_report_split, compute, "compute_ns", "the device computed"),
  FIELD_TIME(tk_report_split, communication, "communication_ns", "the device communicated and did not compute"),
  FIELD_TIME(tk_report_split, copy, "copy_ns", "the device copied or filled memory and did nothing else"),
  FIELD_TIME(tk_report_split, input, "input_ns", "the device was idle while the host loaded input"),
  FIELD_TIME(tk_report_split, compile, "compile_ns", "idle while the host compiled"),
  FIELD_TIME(tk_report_split, launch, "launch_ns", "idle while the host was in calls that launch work"),
  FIELD_TIME(tk_report_split, runtime, "runtime_ns",
    "idle while the host was in other calls of the device's runtime, such as allocations"),
  FIELD_TIME(tk_report_split, sync, "sync_ns", "idle while the host was in calls that wait for the device"),
  FIELD_TIME(tk_report_split, host, "host_ns", "idle while the host ran operators, XLA, Python or calls of the operating system"),
  FIELD_TIME(tk_report_split, other, "other_ns",
    "idle while the host slept, waited for a lock, collected garbage or wrote a checkpoint"),
  FIELD_TIME(tk_report_split, idle, "idle_ns", "no activity of the device or the host was recorded"),
};
const struct field_list report_split_fields = FIELD_LIST(tk_report_split, split_list, "report split");

FIELD_KNOWN(step_has_split, tk_report_step, r->split.length > 0)
FIELD_KNOWN(step_has_flops, tk_report_step, r->flops > 0)

KNOWN_SHARE(step_mfu, tk_report_step, mfu)

#define STEP_TIME(m, name, help) FIELD_TIME_OPTIONAL(tk_report_step, times.m, name, owner_has_device, help)

static const struct tk_field step_list[] = {
  FIELD(tk_report_step, INT, number, "number", "number of the step"),
  FIELD_TIME(tk_report_step, at, "at_ns", "start of the step since the first event of the trace"),
  FIELD_TIME(tk_report_step, dur, "duration_ns", "duration of the step"),
  FIELD(tk_report_step, BOOL, outlier, "outlier",
    "exceeds the upper quartile by more than 1.5 times the interquartile range; needs at least four steps"),
  STEP_TIME(busy, "busy_ns", "time during which at least one kernel, copy or fill ran"),
  STEP_TIME(idle, "idle_ns", "time during which nothing ran"),
  STEP_TIME(compute, "compute_ns", "time during which at least one kernel other than a collective ran"),
  STEP_TIME(communication, "communication_ns", "time during which at least one collective ran"),
  STEP_TIME(memory, "memory_ns", "time during which at least one copy or fill ran"),
  STEP_TIME(overlap, "overlap_ns", "time of simultaneous computation and communication"),
  STEP_TIME(exposed_communication, "exposed_communication_ns", "time of communication without computation"),
  STEP_TIME(exposed_copy, "exposed_copy_ns", "time of copying without computation or communication"),
  STEP_TIME(exposed_fill, "exposed_fill_ns", "time of filling memory while nothing else ran"),
  {.name = "split", .help = "parts of the step, without time that an earlier step covers; null in brief reports and if nothing "
    "is left",
    .type = TK_TYPE_ROW, .of = TK_ROW_REPORT_SPLIT, .unknown = TK_UNKNOWN_NULL, .known = step_has_split,
    FIELD_MEMBER(tk_report_step, split)},
  FIELD_OPTIONAL(tk_report_step, NUMBER, flops, "flops", step_has_flops,
    "floating-point operations of the work that was launched in the step"),
  FIELD_GET_OPTIONAL(NUMBER, PERCENT, "mfu_percent", get_step_mfu,
    "share of the step that the operations in flops would take at the peak"),
  FIELD_OPTIONAL(tk_report_step, COUNT, collections, "garbage_collections", owner_has_collections,
    "number of garbage collections of the host that start in the step; absent if the host has none in all"),
  FIELD_TIME_OPTIONAL(tk_report_step, collecting, "garbage_collection_ns", owner_has_collections,
    "time of the step during which at least one garbage collection ran"),
};
const struct field_list report_step_fields = FIELD_LIST(tk_report_step, step_list, "report step");

#define STREAM_TIME(m, name, help) FIELD_TIME_OPTIONAL(tk_report_stream, m, name, owner_is_linked, help)

static const struct tk_field stream_list[] = {
  FIELD(tk_report_stream, TEXT, name, "stream", "name of the queue"),
  FIELD(tk_report_stream, COUNT, work, "work", "number of kernels, copies and fills"),
  FIELD_TIME(tk_report_stream, busy, "busy_ns", "time during which at least one kernel, copy or fill ran"),
  STREAM_TIME(idle_host, "idle_host_ns", "gaps during which the next work had not been launched"),
  STREAM_TIME(idle_kernel, "idle_kernel_ns", "gaps of less than 30 us between kernels that were launched in time"),
  STREAM_TIME(idle_other, "idle_other_ns", "gaps for other reasons"),
  FIELD_OPTIONAL(tk_report_stream, COUNT, queue_most, "queue_max", owner_is_linked,
    "most pieces of work that were launched and had not started"),
  FIELD_NUMBER_OPTIONAL(tk_report_stream, MEAN, queue_mean, "queue_mean", owner_is_linked,
    "mean of that number from the first launch to the last start"),
};
const struct field_list report_stream_fields = FIELD_LIST(tk_report_stream, stream_list, "report stream");

/* ---- tables ---- */

FIELD_KNOWN(kernel_has_rank, tk_report_kernel, r->max_rank >= 0)
FIELD_KNOWN(kernel_has_bytes, tk_report_kernel, r->bytes_known > 0)

FIELD_KNOWN(kernel_has_occupancy, tk_report_kernel, r->occupancy >= 0)
FIELD_KNOWN(kernel_has_registers, tk_report_kernel, r->registers >= 0)
FIELD_KNOWN(kernel_has_shared, tk_report_kernel, r->shared >= 0)
FIELD_KNOWN(kernel_has_grid, tk_report_kernel, *r->grid != 0)
FIELD_KNOWN(kernel_has_block, tk_report_kernel, *r->block != 0)

static bool get_kernel_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_kernel *k = row;
  (void)owner;
  v->text = k->name;
  v->n = k->name_len;
  return true;
}

static bool get_kernel_short_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_kernel *k = row;
  (void)owner;
  v->text = k->short_name;
  v->n = k->short_len;
  return true;
}

static bool get_kernel_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  const double share = ((const struct tk_report_kernel *)row)->of_sum;
  return field_number(v, 100 * share, share >= 0);
}

static bool get_kernel_rate(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_kernel *k = row;
  return rate(v, k->bytes, (double)k->bytes_time / 1e12) && kernel_has_bytes(row, owner);
}

static const struct tk_field kernel_list[] = {
  FIELD_GET(TEXT, NONE, "name", get_kernel_name, "name of the work"),
  FIELD_GET(TEXT, NONE, "short_name", get_kernel_short_name, "short readable name, unique in this table"),
  FIELD(tk_report_kernel, TEXT, kind, "kind", "compute, communication, copy or fill"),
  FIELD(tk_report_kernel, TEXT, kernel_class, "class",
    "attention, matmul, conv, norm, softmax, elementwise, reduction, copy, collective, optimizer, embedding, sort/index, "
    "triton fused or other"),
  FIELD(tk_report_kernel, COUNT, count, "count", "number of pieces of work"),
  FIELD_TIME(tk_report_kernel, total, "total_ns", "sum of the durations"),
  FIELD_TIME(tk_report_kernel, min, "min_ns", "shortest duration"),
  FIELD_TIME(tk_report_kernel, max, "max_ns", "longest duration"),
  FIELD_TIME(tk_report_kernel, max_at, "max_at_ns", "start of the longest piece of work since the first event of its trace"),
  FIELD_OPTIONAL(tk_report_kernel, INT, max_rank, "max_rank", kernel_has_rank, "rank of the longest piece of work"),
  FIELD_TIME(tk_report_kernel, mean, "mean_ns", "mean duration"),
  FIELD_GET_OPTIONAL(NUMBER, PERCENT, "percent_of_sum", get_kernel_share,
    "share of the time of all work; absent for work on a TPU's asynchronous lines, in parallel to the operations"),
  FIELD_OPTIONAL(tk_report_kernel, COUNT, bytes_known, "sized", kernel_has_bytes,
    "number of copies and fills that record their size"),
  FIELD_NUMBER_OPTIONAL(tk_report_kernel, BYTES, bytes, "bytes", kernel_has_bytes,
    "sum of the sizes that copies and fills record"),
  FIELD_GET_OPTIONAL(NUMBER, GB_PER_S, "gb_per_s", get_kernel_rate,
    "bytes divided by the durations of the copies and fills that record their size"),
  FIELD_NUMBER_OPTIONAL(tk_report_kernel, PERCENT, occupancy, "occupancy_percent", kernel_has_occupancy,
    "occupancy recorded in the trace, as a mean over time"),
  FIELD_NUMBER_OPTIONAL(tk_report_kernel, MEAN, registers, "registers_per_thread", kernel_has_registers,
    "registers per thread, as a mean over time"),
  FIELD_NUMBER_OPTIONAL(tk_report_kernel, BYTES, shared, "shared_memory_bytes", kernel_has_shared,
    "shared memory of a block, as a mean over time"),
  FIELD_OPTIONAL(tk_report_kernel, TEXT, grid, "grid", kernel_has_grid, "blocks of the longest kernel: x,y,z"),
  FIELD_OPTIONAL(tk_report_kernel, TEXT, block, "block", kernel_has_block, "threads of a block of the longest kernel: x,y,z"),
};
const struct field_list report_kernel_fields = FIELD_LIST(tk_report_kernel, kernel_list, "report kernel");

static const struct tk_field launch_list[] = {
  FIELD(tk_report_launch, TEXT, name, "name", "name of the call"),
  FIELD(tk_report_launch, COUNT, work, "work", "number of pieces of work that the call launched"),
  FIELD(tk_report_launch, COUNT, calls, "calls", "number of calls that launched this work"),
  FIELD_TIME(tk_report_launch, call_sum, "call_ns", "sum of the durations of these calls"),
  FIELD_TIME(tk_report_launch, work_sum, "work_ns", "sum of the durations of the work"),
  FIELD_TIME(tk_report_launch, delay_sum, "delay_ns",
    "sum of the delays from the end of the call to the start of the work, each at least 0"),
  FIELD_TIME(tk_report_launch, delay_max, "delay_max_ns", "longest of these delays"),
};
const struct field_list report_launch_fields = FIELD_LIST(tk_report_launch, launch_list, "report launch");

FIELD_KNOWN(collective_has_bytes, tk_report_collective, r->bytes_known > 0)
FIELD_KNOWN(has_met, tk_report_collective, r->met > 0)

static bool get_bus_rate(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_collective *c = row;
  (void)owner;
  return rate(v, c->bus_bytes, field_seconds(c->sized_total)) && c->sized > 0;
}

static bool get_core_rate(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_collective *c = row;
  (void)owner;
  return rate(v, c->core_bus_bytes, field_seconds(c->core_time)) && c->core_sized > 0;
}

#define MET_TIME(m, name, help) FIELD_TIME_OPTIONAL(tk_report_collective, m, name, has_met, help)

static const struct tk_field collective_list[] = {
  FIELD(tk_report_collective, TEXT, name, "name", "name of the collective"),
  FIELD(tk_report_collective, COUNT, count, "count", "number of kernels on all ranks"),
  FIELD_TIME(tk_report_collective, total, "total_ns", "sum of the durations of these kernels, including the wait for other ranks"),
  FIELD(tk_report_collective, COUNT, sized, "sized", "number of kernels that record their bytes and the size of their group"),
  FIELD(tk_report_collective, COUNT, bytes_known, "bytes_known", "number of kernels whose bytes are known"),
  FIELD_NUMBER_OPTIONAL(tk_report_collective, BYTES, bytes, "bytes", collective_has_bytes, "sum of the bytes of these kernels"),
  FIELD_GET_OPTIONAL(NUMBER, GB_PER_S, "bus_gb_per_s", get_bus_rate,
    "bus bandwidth over the durations of the kernels in sized: a lower bound of the bandwidth of the link"),
  FIELD(tk_report_collective, COUNT, met, "met",
    "number of collectives found on two or more ranks; for send and recv, of messages whose other side was found"),
  MET_TIME(core, "shortest_ns", "sum over these collectives of the shortest duration on any rank"),
  MET_TIME(wait, "wait_ns",
    "sum over ranks of the time from the arrival of the rank to the last arrival; for send and recv, to the start of the other "
    "side, "
    "or to the end of the kernel if that is earlier"),
  FIELD_GET_OPTIONAL(NUMBER, GB_PER_S, "shortest_bus_gb_per_s", get_core_rate, "bus bandwidth over the shortest durations"),
};
const struct field_list report_collective_fields = FIELD_LIST(tk_report_collective, collective_list, "report collective");

FIELD_KNOWN(has_delay, tk_report_meeting, r->delay > 0)

static const struct tk_field wait_list[] = {
  FIELD(tk_report_meeting, INT, rank, "rank", "rank in the job"),
  FIELD(tk_report_meeting, COUNT, met, "met",
    "number of the rank's collectives in the selected range that another rank also recorded"),
  FIELD(tk_report_meeting, COUNT, last, "last", "number of collectives in which the rank arrived last"),
  FIELD_TIME(tk_report_meeting, wait, "wait_ns", "sum of the times from the rank's arrival to the last arrival"),
  FIELD_TIME(tk_report_meeting, cost, "cost_ns",
    "sum of the times from the next-to-last arrival to the rank's own, where the rank arrived last"),
  FIELD_TIME_IF(tk_report_meeting, delay, "delay_ns", has_delay, "largest cost of one collective; null if the rank was never last"),
  FIELD_TIME_IF(tk_report_meeting, delay_at, "delay_at_ns", has_delay,
    "arrival of the next-to-last rank at the collective of delay_ns, since the first event of the rank's trace"),
  FIELD_TIME_IF(tk_report_meeting, delay_length, "delay_length_ns", has_delay,
    "time from the arrival at delay_at_ns to the end of the collective"),
};
const struct field_list report_wait_fields = FIELD_LIST(tk_report_meeting, wait_list, "report wait");

/* ---- the report ---- */

static bool get_format(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  field_text(v, ((const struct tk_report *)row)->format);
  return true;
}

static bool get_n_kernels(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  v->count = ((const struct tk_report *)row)->n_kernels;
  return true;
}

FIELD_KNOWN(is_unjudged, tk_report, r->unjudged != NULL)
FIELD_KNOWN(has_step_name, tk_report, r->step_name != NULL)

static const struct tk_field report_list[] = {
  FIELD_ROWS(tk_report, TK_ROW_REPORT_FINDING, findings, n_findings, "findings",
    "figures beyond their thresholds, most severe first; docs/findings.md lists all"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_FIGURE, figures, n_figures, "key_figures", "figures of the job with a verdict each"),
  FIELD_IF(tk_report, TEXT, unjudged, "unjudged", is_unjudged,
    "why no figure could be a finding; null if findings were looked for"),
  FIELD_GET(TEXT, NONE, "format", get_format, "format of the first trace"),
  FIELD(tk_report, COUNT, inputs, "inputs", "number of files that were read"),
  FIELD_TEXTS(tk_report, devices, n_devices, "devices", "accelerator names as recorded in the traces"),
  FIELD_TEXTS(tk_report, versions, n_versions, "versions", "versions of the software that produced the traces"),
  FIELD_TEXTS(tk_report, unknown, n_unknown, "unknown", "facts that the traces do not record"),
  FIELD_IF(tk_report, TEXT, step_name, "step_name", has_step_name,
    "name of the spans that mark steps, with * for numbers; null if there are none or the traces differ"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_RANK, ranks, n_ranks, "ranks",
    "one row for each device of each rank, and for each rank without devices"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_GAP, gaps, n_gaps, "idle_gaps", "longest idle times of each device, longest first"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_COMPILATION, compilations, n_compilations, "compilations",
    "compilations of the hosts, longest first; at most 100 of a rank"),
  FIELD_TIME(tk_report, work, "work_ns", "sum of the durations of all kernels, copies and fills"),
  FIELD_GET(COUNT, NONE, "kernels_in_all", get_n_kernels, "number of names in `kernels` before --top"),
  {.name = "kernels", .help = "all work by name, largest total first", .type = TK_TYPE_ROWS, .of = TK_ROW_REPORT_KERNEL,
    .ranked = true, FIELD_MEMBER(tk_report, kernels), .n_offset = offsetof(struct tk_report, n_kernels)},
  FIELD_ROWS(tk_report, TK_ROW_REPORT_LAUNCH, launches, n_launches, "launches",
    "launching calls by name, with the work that they launched"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_COLLECTIVE, collectives, n_collectives, "collectives", "collectives by name"),
  FIELD(tk_report, COUNT, met, "collectives_met", "number of collectives found on two or more ranks"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_WAIT, meetings, n_meetings, "waits",
    "waiting of each rank in collectives; empty if the collectives of ranks could not be compared"),
  {.name = "operators", .help = "spans of hosts by name, largest self time first", .type = TK_TYPE_ROWS, .of = TK_ROW_REPORT_OP,
    .ranked = true, FIELD_MEMBER(tk_report, ops), .n_offset = offsetof(struct tk_report, n_ops)},
  {.name = "device_operators", .help = "work of devices by operator, most device time first", .type = TK_TYPE_ROWS,
    .of = TK_ROW_REPORT_DEVICE_OP, .ranked = true, FIELD_MEMBER(tk_report, device_ops),
    .n_offset = offsetof(struct tk_report, n_device_ops)},
  FIELD(tk_report, COUNT, samples, "samples", "number of stack samples that `functions` counts"),
  {.name = "functions", .help = "functions in stack samples, by unit, largest self weight first", .type = TK_TYPE_ROWS,
    .of = TK_ROW_REPORT_FUNCTION, .ranked = true, FIELD_MEMBER(tk_report, functions),
    .n_offset = offsetof(struct tk_report, n_functions)},
  {.name = "roofline", .help = "operators whose operations or memory traffic are known, largest total first",
    .type = TK_TYPE_ROWS, .of = TK_ROW_REPORT_ROOF, .ranked = true, FIELD_MEMBER(tk_report, roofs),
    .n_offset = offsetof(struct tk_report, n_roofs)},
  FIELD_ROWS(tk_report, TK_ROW_REPORT_ANNOTATION, annotations, n_annotations, "annotations",
    "annotations, modules and steps of hosts, as a tree in preorder"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_LAYER, layers, n_layers, "layers",
    "device time by layer, as in tree --layers, added up over all traces: a tree in preorder, most device time first"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_MEMORY, memories, n_memories, "memory", "peaks of each allocator"),
  FIELD_ROWS(tk_report, TK_ROW_REPORT_HELD, held, n_held, "allocated_at_peak",
    "what was allocated at the peak of each allocator, by operator and module, most bytes first"),
};
const struct field_list report_fields = FIELD_LIST(tk_report, report_list, "report");
