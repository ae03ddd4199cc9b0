/* figures.c - see figures.h. */
#include "figures.h"

#include "tty.h"

#include <string.h>

typedef const struct tk_report_rank *rank_row;

static bool is_device(rank_row r) { return *r->device != 0; }

static bool time_of(rank_row r, tk_time time, bool known, struct figure_value *v) {
  *v = (struct figure_value){ (double)time, time };
  return known && is_device(r);
}

static bool share(rank_row r, tk_time part, tk_time whole, struct figure_value *v) {
  v->number = whole > 0 ? 100 * (double)part / (double)whole : 0;
  return whole > 0 && is_device(r);
}

static bool number(double n, bool known, struct figure_value *v) { return v->number = n, known; }

/* Define get_NAME() for a time or count of a device, or a percentage; LINKED also requires work whose launch is known. */
#define TIME(name, value) \
  static bool get_##name(rank_row r, struct figure_value *v) { return time_of(r, (value), true, v); }
#define PERCENT(name, part, whole) \
  static bool get_##name(rank_row r, struct figure_value *v) { return share(r, (part), (whole), v); }
#define LINKED(name, value) \
  static bool get_##name(rank_row r, struct figure_value *v) { return time_of(r, (value), r->linked > 0, v); }
#define COUNT(name, value) \
  static bool get_##name(rank_row r, struct figure_value *v) { return time_of(r, (tk_time)(value), true, v); }

#define T r->times
TIME(window, T.window)
TIME(busy, T.busy)
TIME(idle, T.idle)
TIME(compute, T.compute)
TIME(non_compute, T.busy - T.compute)
TIME(communication, T.communication)
TIME(memory, T.memory)
TIME(copy, T.copy)
TIME(fill, T.fill)
TIME(overlap, T.overlap)
TIME(exposed_communication, T.exposed_communication)
TIME(exposed_copy, T.exposed_copy)
TIME(exposed_fill, T.exposed_fill)
LINKED(idle_host, T.idle_host)
LINKED(idle_kernel, T.idle_kernel)
LINKED(idle_other, T.idle_other)
PERCENT(device_busy, T.busy, T.window)
PERCENT(device_idle, T.idle, T.window)
PERCENT(compute_share, T.compute, T.window)
PERCENT(non_compute_share, T.busy - T.compute, T.window)
PERCENT(communication_share, T.communication, T.window)
PERCENT(exposed_communication_share, T.exposed_communication, T.window)
PERCENT(memory_share, T.memory, T.window)
PERCENT(overlap_share, T.overlap, T.communication)
COUNT(work, r->work)
COUNT(linked, r->linked)
COUNT(unfinished, r->unfinished)
COUNT(kernels, r->kernels)
COUNT(under_10us, r->under_10us)
COUNT(under_100us, r->under_100us)
TIME(kernel_sum, r->kernel_sum)
TIME(time_under_10us, r->time_under_10us)
TIME(time_under_100us, r->time_under_100us)
LINKED(delay_mean, r->delay_mean)
LINKED(delay_max, r->delay_max)
LINKED(latency_mean, r->latency_mean)
LINKED(overhead_mean, r->overhead_mean)

#define HOST_TIME(name, value, known) \
  static bool get_##name(rank_row r, struct figure_value *v) { return *v = (struct figure_value){ (double)(value), (value) }, known; }
#define NUMBER(name, value, known) \
  static bool get_##name(rank_row r, struct figure_value *v) { return number((double)(value), known, v); }

NUMBER(bytes, r->bytes, r->bytes_known > 0)
NUMBER(bandwidth, r->bytes_time > 0 ? r->bytes / ((double)r->bytes_time / 1e12) / 1e9 : 0, r->bytes_known && r->bytes_time > 0)
NUMBER(flops, r->flops, r->flops > 0)
NUMBER(events, r->events, true)
HOST_TIME(length, r->length, true)
NUMBER(compilations, r->compilations, true)
HOST_TIME(compile, r->compile, true)
NUMBER(host_ops, r->host_ops, true)
HOST_TIME(host_only, r->host_only, r->linked > 0)
NUMBER(host_only_ops, r->host_only_ops, r->linked > 0)
NUMBER(runtime_calls, r->runtime_calls, true)

const struct figure figures[] = {
  { "events", FIGURE_COUNT, get_events, "spans, instants and counter samples of the rank" },
  { "length_ns", FIGURE_NS, get_length, "from the start of the trace's first event to the end of its last one" },
  { "window_ns", FIGURE_NS, get_window, "active window: from the start of the device's first work to the end of its last" },
  { "busy_ns", FIGURE_NS, get_busy, "time during which at least one kernel, copy or fill ran" },
  { "idle_ns", FIGURE_NS, get_idle, "time during which nothing ran" },
  { "compute_ns", FIGURE_NS, get_compute, "time during which at least one kernel other than a collective ran" },
  { "non_compute_ns", FIGURE_NS, get_non_compute, "time during which something ran, but no computation" },
  { "communication_ns", FIGURE_NS, get_communication, "time during which at least one collective ran" },
  { "memory_ns", FIGURE_NS, get_memory, "time during which at least one copy or fill ran" },
  { "copy_ns", FIGURE_NS, get_copy, "time during which at least one copy ran" },
  { "fill_ns", FIGURE_NS, get_fill, "time during which at least one fill ran" },
  { "overlap_ns", FIGURE_NS, get_overlap, "time of simultaneous computation and communication" },
  { "exposed_communication_ns", FIGURE_NS, get_exposed_communication, "time of communication without computation" },
  { "exposed_copy_ns", FIGURE_NS, get_exposed_copy, "time of copying without computation or communication" },
  { "exposed_fill_ns", FIGURE_NS, get_exposed_fill, "time of filling memory while nothing else ran" },
  { "idle_host_ns", FIGURE_NS, get_idle_host, "idle time during which the next work had not been launched when the device "
                                              "became idle" },
  { "idle_kernel_ns", FIGURE_NS, get_idle_kernel, "idle time of less than 30 us between kernels that were launched in time" },
  { "idle_other_ns", FIGURE_NS, get_idle_other, "idle time for other reasons" },
  { "device_busy_percent", FIGURE_PERCENT, get_device_busy, "busy time as a percentage of the window; also called gpu_busy" },
  { "device_idle_percent", FIGURE_PERCENT, get_device_idle, "idle time as a percentage of the window" },
  { "compute_percent", FIGURE_PERCENT, get_compute_share, "compute time as a percentage of the window" },
  { "non_compute_percent", FIGURE_PERCENT, get_non_compute_share, "non_compute time as a percentage of the window" },
  { "communication_percent", FIGURE_PERCENT, get_communication_share, "communication time as a percentage of the window" },
  { "exposed_communication_percent", FIGURE_PERCENT, get_exposed_communication_share, "exposed communication as a percentage "
                                                                                      "of the window" },
  { "memory_percent", FIGURE_PERCENT, get_memory_share, "memory time as a percentage of the window" },
  { "overlap_percent", FIGURE_PERCENT, get_overlap_share, "overlap as a percentage of communication time" },
  { "work", FIGURE_COUNT, get_work, "number of kernels, copies and fills" },
  { "linked", FIGURE_COUNT, get_linked, "number of these whose launch is known" },
  { "unfinished", FIGURE_COUNT, get_unfinished, "number of these that never ended; excluded from all times" },
  { "kernels", FIGURE_COUNT, get_kernels, "number of kernels, including collectives" },
  { "kernel_sum_ns", FIGURE_NS, get_kernel_sum, "sum of the durations of kernels" },
  { "kernels_under_10us", FIGURE_COUNT, get_under_10us, "number of kernels shorter than 10 us" },
  { "time_under_10us_ns", FIGURE_NS, get_time_under_10us, "sum of their durations" },
  { "kernels_under_100us", FIGURE_COUNT, get_under_100us, "number of kernels shorter than 100 us" },
  { "time_under_100us_ns", FIGURE_NS, get_time_under_100us, "sum of their durations" },
  { "launch_delay_mean_ns", FIGURE_NS, get_delay_mean, "mean delay from the end of the launching call to the start of the "
                                                       "work, at least 0" },
  { "launch_delay_max_ns", FIGURE_NS, get_delay_max, "longest such delay" },
  { "launch_latency_mean_ns", FIGURE_NS, get_latency_mean, "mean delay from the start of the launching call to the start of "
                                                           "the work" },
  { "launch_overhead_mean_ns", FIGURE_NS, get_overhead_mean,
    "mean delay from max(start of the call, stream free) to the start of the work" },
  { "bytes_accessed", FIGURE_BYTES, get_bytes, "bytes read and written, as recorded by the work" },
  { "memory_gb_per_s", FIGURE_RATE, get_bandwidth, "these bytes divided by the time during which any of the work ran" },
  { "flops", FIGURE_NUMBER, get_flops, "floating-point operations, as recorded by the work" },
  { "compilations", FIGURE_COUNT, get_compilations, "number of outermost host spans that compile programs" },
  { "compile_ns", FIGURE_NS, get_compile, "time during which the host compiled, on any thread" },
  { "host_ops", FIGURE_COUNT, get_host_ops, "number of outermost host operators" },
  { "host_only_ops", FIGURE_COUNT, get_host_only_ops, "number of these that launched no work" },
  { "host_only_ns", FIGURE_NS, get_host_only, "sum of their durations" },
  { "runtime_calls", FIGURE_COUNT, get_runtime_calls, "number of calls of the device's runtime and driver" },
  { 0, 0, 0, 0 },
};

static bool is_called(const struct figure *f, const char *word, size_t n) {
  static const char *const UNITS[] = { "", "_ns", "_percent", "_gb_per_s" };
  for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
    if (strlen(f->key) == n + strlen(UNITS[i]) && strncmp(f->key, word, n) == 0 && strcmp(f->key + n, UNITS[i]) == 0) return true;
  return false;
}

const struct figure *figure_of(const char *word, size_t n, bool percent) {
  static const char ALIAS[] = "gpu_busy", ALIASED[] = "device_busy";
  const struct figure *found = NULL;
  if (n == sizeof ALIAS - 1 && strncmp(word, ALIAS, n) == 0) word = ALIASED, n = sizeof ALIASED - 1;
  for (const struct figure *f = figures; f->key; f++)
    if (is_called(f, word, n) && (!found || (f->unit == FIGURE_PERCENT) == percent)) found = f;
  return found;
}

void figure_total(struct json *j, const char *key, struct tk_total total) {
  char text[48];
  tk_print_ns(total, text);
  json_raw(j, key, text);
}

void figure_ns(struct json *j, const char *key, tk_time time) {
  const tk_time second = 1000000000000;
  figure_total(j, key, (struct tk_total){ time / second, time % second });
}

void figure_number(struct json *j, const char *key, double v) {
  char text[32];
  tk_print_number(v, text);
  json_raw(j, key, text);
}

void figures_json(struct json *j, const struct tk_report_rank *r) {
  struct figure_value v;
  char text[32];
  for (const struct figure *f = figures; f->key; f++) {
    if (!f->get(r, &v)) json_null(j, f->key);
    else if (f->unit == FIGURE_NS) figure_ns(j, f->key, v.time);
    else if (f->unit == FIGURE_COUNT) json_uint(j, f->key, (uint64_t)v.number);
    else if (f->unit == FIGURE_PERCENT || f->unit == FIGURE_RATE) json_raw(j, f->key, tty_fraction(v.number, 3, text));
    else figure_number(j, f->key, v.number);
  }
}

void figure_report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n) {
  const char *slash = strrchr(row->input, '/'), *leaf = slash && slash[1] ? slash + 1 : row->input;
  size_t len = 0;
  *text = 0;
  if (row->rank >= 0) len = (size_t)snprintf(text, n, "rank %lld", (long long)row->rank);
  else if (r->inputs > 1 || !*row->device) len = (size_t)snprintf(text, n, "%s", *row->host ? row->host : leaf);
  if (len < n && *row->device) snprintf(text + len, n - len, "%s%s", len ? ", " : "", row->device);
}
