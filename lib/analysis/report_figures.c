/* report_figures.c - key figures of a job, each with a verdict (report.h).
 *
 * docs/analysis.md lists the figures and their limits, which come from a guide to viewing traces. A figure about devices
 * describes the worst device. It gets no verdict if the report covers only a selection of the work, if a trace is incomplete, if
 * there are fewer than 10 pieces of work, or if the figure depends on idle time and launched work was not recorded. In these
 * cases, there are no findings about it either. */
#include "report.h"
#include "findings.h"

#include <math.h>
#include <string.h>

enum { LEAST_WORK = 10, LEAST_LINKED = 20 }; /* figures that depend on idle time get a verdict if fewer than 1 in LEAST_LINKED launching
                                              * calls lacks its work */

/* Stores the figure of a row in *value. Returns false if the trace does not contain it. */
typedef bool figure_of(const struct tk_report_rank *row, const struct tk_report *r, double *value);

static bool share_of(double part, double whole, double *value) {
  *value = whole > 0 ? 100 * part / whole : 0;
  return whole > 0;
}

/* True for a device that runs kernels; if no device of the report does, true for every device. This excludes devices that only copy,
 * which are not typical of the job. */
static bool is_worker(const struct tk_report_rank *row, const struct tk_report *r) {
  return *row->device && (row->kernels || !r->impl->computes);
}

static bool utilization(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  return is_worker(row, r) && share_of((double)(s.length - report_idle_of(&s)), (double)s.length, value);
}

enum { OVERHEAD_WARNING = 10, OVERHEAD_BAD = 20 };

/* Stores the percentage of time in which the device was idle while the host ran operators or Python, launched work, or was in other
 * calls of the device's runtime; waiting for the device is no overhead. Returns false if this is unknown: no activity of the device or
 * the host is recorded for more than OVERHEAD_WARNING percent of the time, unless the known part alone is bad. */
static bool host_overhead(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const double calls = (double)s.launch + (double)s.runtime + (double)s.host, length = (double)s.length;
  const bool recorded = 100 * (double)s.idle <= OVERHEAD_WARNING * length || 100 * calls >= OVERHEAD_BAD * length;
  return is_worker(row, r) && recorded && share_of(calls, length, value);
}

static bool kernel_duration(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  (void)r;
  *value = row->kernels ? (double)row->kernel_sum / (double)row->kernels / 1e9 : 0;
  return row->kernels > 0;
}

static bool bandwidth(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  static const double MOST_OF = .5;
  const bool stated = row->bytes_known && row->bytes_time > 0;
  (void)r;
  if (!stated && row->bytes_coverage < MOST_OF) return false;
  const double rate = stated ? row->bytes / ((double)row->bytes_time / 1e12) : row->operator_bytes_rate;
  return share_of(rate, row->peak_bandwidth, value) && *value <= 100; /* above 100%, the recorded data is wrong */
}

/* Stores the time spent compiling. Runtimes that record operators of the host (PyTorch, XLA, TensorFlow) also record compilations, so a
 * trace with operators and no compilations compiled nothing. Returns false if code ran that torch.compile had compiled, because older
 * versions of PyTorch do not record its compilation. */
static bool compile_time(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  (void)r;
  *value = (double)row->compile / 1e12;
  return row->compilations > 0 || (row->host_ops > 0 && row->compiled_frames == 0);
}

/* Stores the longest idle time in the window or within steps. Uses the same value as findings if that is longer, so that both agree. */
static bool longest_gap(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  const tk_time in_range = findings_gap_of(row).length;
  *value = (double)(row->gap > in_range ? row->gap : in_range) / 1e9;
  return is_worker(row, r);
}

static bool long_operators(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  *value = (double)row->long_ops;
  return r->n_ops > 0;
}

/* Figures of the whole job. */

static bool occupancy(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  (void)row;
  *value = report_mean_of(&r->impl->occupancy);
  return *value >= 0;
}

const struct tk_report_kernel *report_longest_work(const struct tk_report *r) {
  for (size_t i = 0; i < r->n_kernels; i++)
    if (r->kernels[i].of_sum >= 0) return &r->kernels[i];
  return NULL;
}

static bool largest_work(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  (void)row;
  const struct tk_report_kernel *k = report_longest_work(r);
  *value = k ? 100 * k->of_sum : 0;
  return k && r->n_kernels >= 3;
}

static bool peak_memory(const struct tk_report_rank *row, const struct tk_report *r, double *value) {
  bool known = false;
  double of_row;
  (void)row;
  *value = 0;
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    if (m->peak_allocated < 0 || !share_of(m->peak_allocated, m->capacity, &of_row)) continue;
    known = true;
    *value = fmax(*value, of_row);
  }
  return known;
}

/* A figure and its limits. If less is better, a value below `warning` is good, and a value of `bad` or more is bad. If more is better,
 * a value of `warning` or more is good, and a value below `bad` is bad. */
struct figure {
  const char *name, *unit, *good;
  double warning, bad; /* NAN = no verdict */
  bool more_is_better, of_job, needs_idle;
  figure_of *of;
};

static const struct figure FIGURES[] = {
  {"device utilization", "%", "at least 80", 80, 50, true, false, true, utilization},
  {"mean kernel duration", "ms", "at least 1", 1, .1, true, false, false, kernel_duration},
  {"host overhead", "%", "below 10", OVERHEAD_WARNING, OVERHEAD_BAD, false, false, true, host_overhead},
  {"memory bandwidth", "%", "at least 60", 60, 40, true, false, false, bandwidth},
  {"compilation time", "s", "below 2", 2, 10, false, false, false, compile_time},
  {"peak memory", "%", "below 90", 90, 97, false, true, false, peak_memory},
  {"occupancy", "%", "at least 50", 50, 25, true, true, false, occupancy},
  {"largest kernel or copy", "%", "below 50", 50, INFINITY, false, true, false, largest_work},
  {"longest idle time", "ms", "", NAN, NAN, false, false, true, longest_gap},
  {"operators with self time above 50 ms", "", "", NAN, NAN, false, false, false, long_operators},
};

const char *tk_key_figure(size_t i, const char **unit) {
  if (i >= sizeof FIGURES / sizeof *FIGURES) return NULL;
  *unit = FIGURES[i].unit;
  return FIGURES[i].name;
}

static bool is_worse(const struct figure *f, double a, double b) { return f->more_is_better ? a < b : a > b; }

static const char *verdict(const struct figure *f, double value) {
  if (isnan(f->warning)) return "";
  if (f->more_is_better) return value >= f->warning ? "good" : value >= f->bad ? "warning" : "bad";
  return value < f->warning ? "good" : value < f->bad ? "warning" : "bad";
}

static bool is_judged(const struct figure *f, const struct tk_report_rank *row) {
  if (!row->judged || row->incomplete || (*row->device && row->work < LEAST_WORK)) return false;
  return !f->needs_idle || report_lost_calls(row, 100.0 / LEAST_LINKED) * LEAST_LINKED < row->launch_calls || row->launch_calls == 0;
}

/* Returns the row with the worst figure; NULL if the figure is unknown in all rows. */
static const struct tk_report_rank *worst_of(const struct figure *f, const struct tk_report *r, double *worst) {
  const struct tk_report_rank *at = NULL;
  const size_t n = f->of_job && r->n_ranks ? 1 : r->n_ranks;
  double value;
  for (size_t i = 0; i < n; i++) {
    if (!f->of(&r->ranks[i], r, &value) || (at && !is_worse(f, value, *worst))) continue;
    at = &r->ranks[i];
    *worst = value;
  }
  return at;
}

/* True if a figure of the whole job gets a verdict. All rows must meet the conditions for a verdict. */
static bool is_judged_everywhere(const struct figure *f, const struct tk_report *r) {
  for (size_t i = 0; i < r->n_ranks; i++)
    if (!is_judged(f, &r->ranks[i])) return false;
  return true;
}

/* Adds a figure. A figure with an unknown value is listed only if it has limits and the report has a device. */
static bool add_figure(struct tk_report *r, const struct figure *f) {
  struct tk_report_impl *impl = r->impl;
  double value = 0;
  const struct tk_report_rank *row = worst_of(f, r, &value);
  if (!row && (isnan(f->warning) || !r->impl->has_device)) return true;
  const bool judged = row && (f->of_job ? is_judged_everywhere(f, r) : is_judged(f, row));
  if (!mem_grow(&impl->mem, (void **)&r->figures, &impl->cap_figures, r->n_figures + 1, sizeof *r->figures)) return false;
  r->figures[r->n_figures++] = (struct tk_report_figure){
      .name = f->name, .unit = f->unit, .value = value, .verdict = judged ? verdict(f, value) : "", .good = f->good,
      .rank = f->of_job || !row ? -1 : row->rank, .device = f->of_job || !row ? "" : row->device, .known = row != NULL,
      .run = f->of_job || !row ? "" : row->run};
  return true;
}

bool report_figures_make(struct tk_report *r) {
  bool ok = true;
  for (size_t i = 0; i < r->n_ranks; i++) {
    r->impl->computes = r->impl->computes || r->ranks[i].kernels;
    r->impl->has_device = r->impl->has_device || *r->ranks[i].device;
  }
  if (r->impl->opt.brief || !r->n_ranks) return true;
  for (size_t i = 0; ok && i < sizeof FIGURES / sizeof *FIGURES; i++) ok = add_figure(r, &FIGURES[i]);
  return ok;
}
