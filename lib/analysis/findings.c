/* findings.c - see findings.h. A rule computes a figure for each row. If the highest figure exceeds the threshold, a finding about its
 * row is added. */
#include "findings.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "work_names.h"

/* ---- figures of a row ---- */

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static bool is_beyond(const struct tk_report *r, enum threshold limit, double figure) {
  return figure > 0 && figure >= r->impl->limits[limit].warning;
}

/* A row, and the split of time from which its figures are computed. */
struct subject {
  const struct tk_report *r;
  const struct tk_report_rank *row;
  const struct tk_threshold *limits;
  struct tk_report_split split;
  bool steps;      /* true: figures are based on the steps of the row, false: on its window */
  bool device;     /* true if the row is a device */
  double lost;     /* percentage of launching calls without recorded work */
  bool complete;   /* true: the launched work was recorded, so that idle time in the trace is real */
};

static struct subject subject_of(const struct tk_report *r, const struct tk_report_rank *row) {
  struct subject s = {.r = r, .row = row, .limits = r->impl->limits, .device = *row->device && row->work > 0};
  s.split = report_split_of_row(row, &s.steps);
  s.lost = percent((double)report_lost_calls(row, s.limits[LIMIT_UNRECORDED].warning), (double)row->launch_calls);
  s.complete = !is_beyond(r, LIMIT_UNRECORDED, s.lost);
  return s;
}

static const tk_time SMALL_KERNEL = 10000000; /* ps */

/* Minimum numbers of items; with fewer items, percentages are meaningless. */
enum { FEWEST_WORK = 10, FEWEST_KERNELS = 100, FEWEST_NAMES = 3, FEWEST_LAST = 3, FEWEST_SAMPLES = 100 };

/* True if kernels run for so much of the time that faster ones would help. On a device that is nearly always idle, they would not. */
static bool is_worth(double time, double window) { return percent(time, window) >= 5; }

/* True if the row's idle time is meaningful. The row must be a device with enough work that runs kernels, and its launched work must
 * have been recorded. (On a device that only copies, there are no kernels to wait for.) */
static bool can_be_idle(const struct subject *s) {
  return s->device && s->complete && s->row->work >= FEWEST_WORK && s->row->kernels > 0;
}

static bool share(const struct subject *s, bool known, tk_time part, double *v) {
  *v = percent((double)part, (double)s->split.length);
  return known && s->split.length > 0;
}

static bool of_idle(const struct subject *s, double *v) { return share(s, can_be_idle(s), report_idle_of(&s->split), v); }

static bool of_sync(const struct subject *s, double *v) {
  return share(s, can_be_idle(s) && !findings_is_stuck(s->row), s->split.sync, v);
}
static bool of_input(const struct subject *s, double *v) {
  return share(s, s->device ? can_be_idle(s) : s->row->n_steps > 0, s->split.input, v);
}
static bool of_compile(const struct subject *s, double *v) {
  return share(s, s->device ? can_be_idle(s) : s->row->n_steps > 0, s->split.compile, v);
}

/* True if the idle time would be below the threshold without the time in which the host recorded graphs, which launches nothing. */
static bool is_idle_for_graphs(const struct subject *s) {
  const tk_time rest = report_idle_of(&s->split) - s->row->capturing;
  return s->row->capturing && percent((double)rest, (double)s->split.length) < s->limits[LIMIT_DEVICE_IDLE].warning;
}

/* Returns the time at the end of the last step in which neither work nor, although the host was recorded, any of its activity was
 * recorded. The recording may have ended. */
static tk_time unseen_end(const struct tk_report_rank *row) {
  if (!row->n_steps || row->host_ops + row->runtime_calls == 0) return 0;
  const tk_time unseen = row->steps[row->n_steps - 1].split.idle;
  return unseen < row->after_work ? unseen : row->after_work;
}

/* True if the idle time would be below the threshold without the time at both ends, or if hardly any other time is left. Before the
 * device's first work, it may have run work that was launched before the recording began and is missing. */
static bool is_idle_at_ends_only(const struct subject *s) {
  const tk_time ends = s->steps ? s->row->before_work + unseen_end(s->row) : 0;
  const double idle = (double)(report_idle_of(&s->split) - ends), length = (double)(s->split.length - ends);
  return percent(idle, length) < s->limits[LIMIT_DEVICE_IDLE].warning || length < (double)s->split.length / 10;
}

/* Stores the idle time of a device as a percentage. Returns false if the percentage is unknown, or if one of `causes`, which are
 * reported as separate findings, explains so much of it that the rest is below the threshold. */
static bool of_unexplained(const struct subject *s, double *v) {
  const struct {
    enum threshold limit;
    bool (*figure)(const struct subject *s, double *v);
  } causes[] = {{LIMIT_INPUT, of_input}, {LIMIT_COMPILE, of_compile}, {LIMIT_SYNC, of_sync}};
  bool known = of_idle(s, v) && !is_idle_at_ends_only(s) && !is_idle_for_graphs(s);
  double part;
  for (size_t i = 0; known && i < sizeof causes / sizeof *causes; i++)
    if (causes[i].figure(s, &part) && is_beyond(s->r, causes[i].limit, part) && *v - part < s->limits[LIMIT_DEVICE_IDLE].warning)
      known = false;
  return known;
}

static bool of_copy(const struct subject *s, double *v) { return share(s, can_be_idle(s), s->split.copy, v); }
static bool of_communication(const struct subject *s, double *v) {
  return share(s, can_be_idle(s), s->split.communication, v);
}

static bool of_compile_time(const struct subject *s, double *v) {
  *v = (double)s->row->compile / 1e12;
  return s->row->compilations > 0;
}

static bool of_sync_count(const struct subject *s, double *v) {
  enum { LEAST_PERCENT = 5 };
  double caused;
  *v = s->row->host_steps ? (double)s->row->syncs_in_steps / (double)s->row->host_steps : 0;
  if (!s->row->host_steps || !share(s, can_be_idle(s), s->row->idle_after_waits, &caused) || findings_is_stuck(s->row)) return false;
  return caused >= LEAST_PERCENT && percent((double)s->row->sync_in_steps, (double)s->split.length) >= 1;
}

static bool of_small_kernels(const struct subject *s, double *v) {
  double idle;
  const tk_time host = s->split.launch + s->split.host;
  *v = percent((double)s->row->under_10us, (double)s->row->kernels);
  if (!of_idle(s, &idle) || !is_beyond(s->r, LIMIT_DEVICE_IDLE, idle) || s->row->kernels < FEWEST_KERNELS) return false;
  if (is_idle_for_graphs(s)) return false;
  return host >= report_idle_of(&s->split) - host && !findings_gap_of(s->row).most && !findings_is_stuck(s->row);
}

static bool of_pageable(const struct subject *s, double *v) {
  *v = percent((double)s->row->pageable, (double)s->row->times.window);
  return s->device && s->row->work >= FEWEST_WORK;
}

static bool of_collections(const struct subject *s, double *v) {
  *v = percent((double)s->row->collecting, (double)s->row->length);
  return s->row->collections > 0;
}

static bool of_profiler(const struct subject *s, double *v) {
  *v = percent((double)s->row->profiler, (double)s->row->length);
  return s->row->profiler > 0;
}

static bool of_recompilations(const struct subject *s, double *v) {
  *v = (double)s->row->recompilations;
  return s->row->recompilations > 0;
}

static bool of_modules(const struct subject *s, double *v) {
  *v = (double)s->row->module_recompilations;
  return s->row->module_recompilations > 0;
}

static bool of_graphs(const struct subject *s, double *v) {
  *v = (double)s->row->compiled_frames;
  return s->row->compiled_frames > 0;
}

static bool of_outlier(const struct subject *s, double *v) {
  const struct tk_report_spread *d = &s->row->step;
  *v = d->p50 > 0 ? (double)d->max / (double)d->p50 : 0;
  return d->outliers > 0;
}

static bool of_fp32(const struct subject *s, double *v) {
  *v = percent((double)s->row->fp32_matmul, (double)s->row->compute_sum);
  return s->row->kernels >= FEWEST_WORK && is_worth((double)s->row->fp32_matmul, (double)s->row->times.window);
}

static bool of_small_grid(const struct subject *s, double *v) {
  *v = percent((double)s->row->small_grid, (double)s->row->compute_sum);
  return s->row->gridded >= FEWEST_WORK && is_worth((double)s->row->small_grid, (double)s->row->times.window);
}

/* Without any recorded work, a few launches may be the last ones of a recording. If the trace describes the work in another way, such
 * as by counters of kernels, a sentence of report_suspect.c explains that. */
static bool of_unrecorded(const struct subject *s, double *v) {
  *v = s->lost;
  if (!s->row->work && s->r->impl->suspect) return false;
  return *v > 0 && (s->device || (!s->row->work && s->row->unrecorded >= FEWEST_WORK));
}

/* ---- drift ---- */

struct moments {
  double mean, error; /* error: squared standard error of the mean */
};

static struct moments moments_of(const struct tk_report_step *v, size_t n) {
  struct moments m = {0};
  for (size_t i = 0; i < n; i++) m.mean += (double)v[i].dur / (double)n;
  for (size_t i = 0; i < n; i++) m.error += ((double)v[i].dur - m.mean) * ((double)v[i].dur - m.mean);
  m.error /= (double)(n - 1) * (double)n;
  return m;
}

/* Stores the increase, in percent, of the mean duration of steps from the first third to the last. Returns false unless it exceeds
 * three standard errors, so that noise is not reported as drift. */
static bool of_drift(const struct subject *s, double *v) {
  const size_t n = s->row->n_steps, third = n / 3;
  if (third < 3) return false;
  const struct moments a = moments_of(s->row->steps, third), b = moments_of(s->row->steps + n - third, third);
  *v = percent(b.mean - a.mean, a.mean);
  return b.mean - a.mean > 3 * sqrt(a.error + b.error);
}

/* ---- rules ---- */

#define PART(member) offsetof(struct tk_report_step, member)

static const struct rule {
  enum threshold limit;
  bool (*figure)(const struct subject *s, double *v);
  size_t part; /* offset of the part of a step's time that the rule is about; the finding points to the step where it is longest; 0 =
                * none */
  bool host;                                      /* the figure is about the host, and is the same for all its devices */
  bool grows;                                     /* missing events could only increase the figure, so it is judged even for incomplete
                                                   * rows */
} RULES[] = {
  {LIMIT_DEVICE_IDLE, of_unexplained, 0, false, false},
  {LIMIT_INPUT, of_input, PART(split.input), false, false},
  {LIMIT_COMPILE, of_compile, PART(split.compile), false, false},
  {LIMIT_COMPILE_TIME, of_compile_time, 0, true, true},
  {LIMIT_SYNC, of_sync, PART(split.sync), false, false},
  {LIMIT_SYNC_COUNT, of_sync_count, PART(split.sync), true, false},
  {LIMIT_SMALL_KERNELS, of_small_kernels, 0, false, false},
  {LIMIT_COMMUNICATION, of_communication, PART(split.communication), false, false},
  {LIMIT_COPY, of_copy, PART(split.copy), false, false},
  {LIMIT_PAGEABLE, of_pageable, 0, false, false},
  {LIMIT_GC, of_collections, 0, true, false},
  {LIMIT_PROFILER, of_profiler, 0, true, false},
  {LIMIT_RECOMPILATIONS, of_recompilations, 0, true, true},
  {LIMIT_MODULES, of_modules, 0, true, true},
  {LIMIT_GRAPHS, of_graphs, 0, true, true},
  {LIMIT_STEP_OUTLIER, of_outlier, PART(dur), false, false},
  {LIMIT_STEP_DRIFT, of_drift, 0, false, false},
  {LIMIT_FP32_MATMUL, of_fp32, 0, false, false},
  {LIMIT_SMALL_GRID, of_small_grid, 0, false, false},
  {LIMIT_UNRECORDED, of_unrecorded, 0, true, false},
};
enum { N_RULES = sizeof RULES / sizeof *RULES };

static const struct tk_report_step *worst_step(const struct tk_report_rank *row, size_t part) {
  const struct tk_report_step *worst = NULL;
  tk_time most = 0;
  for (size_t i = 0; part && i < row->n_steps; i++) {
    const tk_time time = *(const tk_time *)(const void *)((const char *)&row->steps[i] + part);
    if (time <= most) continue;
    worst = &row->steps[i];
    most = time;
  }
  return worst;
}

/* ---- findings ---- */

static const struct tk_report_step *step_around(const struct tk_report_rank *row, tk_time at) {
  const struct tk_report_step *step = NULL;
  for (size_t i = 0; !step && i < row->n_steps; i++)
    if (row->steps[i].at <= at && at < row->steps[i].at + row->steps[i].dur) step = &row->steps[i];
  return step;
}

/* Returns the step of a rank at this time; NULL if there is none, or if several inputs have the rank. */
static const struct tk_report_step *step_of_rank(const struct tk_report *r, int64_t rank, tk_time at) {
  const struct tk_report_step *step = NULL;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (r->ranks[i].rank != rank || *r->ranks[i].run) continue;
    const struct tk_report_step *found = step_around(&r->ranks[i], at);
    if (found) step = found;
  }
  return step;
}

/* Chooses the place of a finding: the time range of the trace, and the step, that show it best. */
static void place(const struct finding_case *c, struct tk_report_finding *f) {
  const struct tk_report_rank *row = c->row;
  if (c->step) {
    f->has_step = true;
    f->step = c->step->number;
    f->at = c->step->at;
    f->length = c->step->dur;
  }
  if (c->meeting && c->meeting->delay > 0) {
    f->at = c->meeting->delay_at;
    f->length = c->meeting->delay_length;
  } else if (c->limit == LIMIT_UNRECORDED) {
    f->at = row->unrecorded_at;
    f->length = 0;
  } else if (c->limit == LIMIT_DEVICE_IDLE) {
    const struct finding_gap gap = findings_gap_of(row);
    f->at = gap.at;
    f->length = gap.length;
  } else if (c->limit == LIMIT_GC) {
    f->at = row->collection_at;
    f->length = row->collection_max;
  } else if (c->limit == LIMIT_PROFILER) {
    f->at = row->profiler_at;
    f->length = row->profiler_max;
  } else if (c->kernel) {
    f->at = c->kernel->max_at;
    f->length = c->kernel->max;
  } else if (c->memory || c->oom) {
    f->at = c->memory ? c->memory->at : c->oom->at;
    f->length = 0;
  }
}

static int64_t finding_rank(const struct finding_case *c) {
  if (c->row) return c->row->rank;
  if (c->meeting) return c->meeting->rank;
  if (c->memory) return c->memory->rank;
  if (c->oom) return c->oom->rank;
  return c->kernel ? c->kernel->max_rank : -1;
}

struct found {
  struct tk_report_finding f;
  double weight; /* ratio of the figure to the threshold of a warning */
  size_t place;
  bool first;    /* sorted first, because the finding restricts the meaning of the other findings */
};

struct finder {
  struct tk_report *r;
  struct found *v;
  uint32_t n, cap;
  bool whole; /* true if all work is selected, and no input is incomplete */
  bool any;   /* true if at least one figure is known */
};

static bool add_finding(struct finder *to, const struct finding_case *found) {
  struct tk_report_impl *impl = to->r->impl;
  struct finding_case c = *found;
  const struct tk_threshold *limit = &impl->limits[c.limit];
  char text[640], advice[480], complete[8192];
  if (!mem_grow(&impl->mem, (void **)&to->v, &to->cap, (uint64_t)to->n + 1, sizeof *to->v)) return false;
  c.r = to->r;
  c.threshold = c.figure >= limit->bad ? limit->bad : limit->warning;
  struct tk_report_finding f = {.id = limit->id, .severity = c.figure >= limit->bad ? "bad" : "warning", .figure = c.figure,
                                .threshold = c.threshold, .unit = limit->unit, .rank = finding_rank(&c),
                                .device = c.row ? c.row->device : "", .input = c.row ? c.row->input : "", .length = -1};
  place(&c, &f);
  findings_say(&c, text, sizeof text, advice, sizeof advice);
  f.text = report_text(impl, text);
  findings_commands(&c, advice, complete, sizeof complete);
  f.advice = report_text(impl, complete);
  const bool first = c.limit == LIMIT_TRUNCATED || c.limit == LIMIT_DAMAGED;
  to->v[to->n] = (struct found){f, c.figure / (limit->warning + 1e-9), to->n, first};
  to->n++;
  return !impl->mem.failed;
}

static bool is_same_host(const struct tk_report_rank *a, const struct tk_report_rank *b) {
  return a->rank == b->rank && strcmp(a->input, b->input) == 0 && strcmp(a->host, b->host) == 0;
}

/* Applies a rule to a row. Stores the row in *worst if its figure is beyond the threshold and the highest so far. */
static void judge(struct finder *to, const struct rule *rule, const struct subject *s, struct finding_case *worst) {
  double v = 0;
  if ((s->row->incomplete && !rule->grows) || !rule->figure(s, &v)) return;
  to->any = true;
  if (!is_beyond(s->r, rule->limit, v) || (rule->host && worst->row && is_same_host(worst->last, s->row))) return;
  worst->others += worst->row != NULL;
  worst->last = s->row;
  if (worst->row && v <= worst->figure) return;
  worst->row = s->row;
  worst->figure = v;
}

/* True if this row of work (one name) causes the finding. */
static bool shows(enum threshold limit, const struct tk_report_kernel *k) {
  const uint64_t blocks = findings_blocks(k->grid);
  switch (limit) {
  case LIMIT_FP32_MATMUL: return work_names_traits(k->name) & WORK_FP32_MATMUL;
  case LIMIT_PAGEABLE: return work_names_traits(k->name) & WORK_PAGEABLE;
  case LIMIT_SMALL_GRID: return strcmp(k->kind, "compute") == 0 && blocks && blocks < FINDINGS_FEW_BLOCKS;
  case LIMIT_SMALL_KERNELS: return strcmp(k->kind, "compute") == 0 && k->max < SMALL_KERNEL;
  default: return false;
  }
}

/* Returns, of the work that causes the finding, the name that takes the most time. NULL unless the longest piece of that work
 * is on the device of the row, which is certain only if the rank has no other device. */
static const struct tk_report_kernel *shown_by(const struct tk_report *r, enum threshold limit, const struct tk_report_rank *row) {
  for (size_t i = 0; i < r->n_ranks; i++)
    if (&r->ranks[i] != row && *r->ranks[i].device && r->ranks[i].rank == row->rank) return NULL;
  for (size_t i = 0; i < r->n_kernels; i++)
    if (r->kernels[i].max_rank == row->rank && shows(limit, &r->kernels[i])) return &r->kernels[i];
  return NULL;
}

/* Adds at most one finding per rule, about the row with the highest figure. Applies all rules in one pass over the rows. */
static bool add_rows(struct finder *to) {
  const struct tk_report *r = to->r;
  struct finding_case worst[N_RULES] = {{0}};
  bool ok = true;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!r->ranks[i].judged) continue;
    const struct subject s = subject_of(r, &r->ranks[i]);
    for (size_t k = 0; k < N_RULES; k++) judge(to, &RULES[k], &s, &worst[k]);
  }
  for (size_t k = 0; ok && k < N_RULES; k++) {
    struct finding_case *c = &worst[k];
    if (!c->row) continue;
    c->limit = RULES[k].limit;
    c->host = RULES[k].host;
    c->kernel = shown_by(r, c->limit, c->row);
    if (c->limit == LIMIT_DEVICE_IDLE) c->step = step_around(c->row, findings_gap_of(c->row).at);
    else if (c->limit == LIMIT_UNRECORDED) c->step = step_around(c->row, c->row->unrecorded_at);
    else c->step = c->kernel ? step_around(c->row, c->kernel->max_at) : worst_step(c->row, RULES[k].part);
    ok = add_finding(to, c);
  }
  return ok;
}

/* ---- findings about the job ---- */

/* Returns the sum of the lengths of the windows of all devices, in seconds, and sets *n to their number. */
static double sum_windows(const struct tk_report *r, uint64_t *n) {
  double sum = 0;
  *n = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!*r->ranks[i].device) continue;
    sum += (double)r->ranks[i].times.window / 1e12;
    ++*n;
  }
  return sum;
}

static bool is_kernel_worth(const struct tk_report *r, const struct tk_report_kernel *k) {
  uint64_t n;
  return strcmp(k->kind, "compute") == 0 && is_worth(field_seconds(k->total), sum_windows(r, &n));
}

/* True if there is enough work to judge a kernel's share of the time of all work. */
static bool can_judge_kernels(const struct finder *to) {
  const struct tk_report *r = to->r;
  uint64_t count = 0;
  for (size_t i = 0; i < r->n_kernels; i++) count += r->kernels[i].count;
  return to->whole && r->n_kernels >= FEWEST_NAMES && count >= FEWEST_WORK;
}

static bool add_kernel(struct finder *to) {
  const struct tk_report *r = to->r;
  const struct tk_report_kernel *k = report_longest_work(r);
  if (!k || !can_judge_kernels(to) || !is_kernel_worth(r, k)) return true;
  const struct finding_case c = {.limit = LIMIT_DOMINANT_KERNEL, .figure = 100 * k->of_sum, .kernel = k};
  return !is_beyond(r, c.limit, c.figure) || add_finding(to, &c);
}

/* True for kernels whose occupancy is low by design, because they keep their data in registers or wait for other ranks. */
static bool is_sparse_by_design(const struct tk_report_kernel *k) {
  static const char *const CLASSES[] = {"matmul", "attention", "conv", "collective"};
  for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
    if (strcmp(k->kernel_class, CLASSES[i]) == 0) return true;
  return false;
}

/* Reports the kernel with low occupancy that takes the most time; kernels are sorted by time. */
static bool add_occupancy(struct finder *to) {
  enum { LOW_PERCENT = 25 };
  const struct tk_report *r = to->r;
  if (!can_judge_kernels(to)) return true;
  for (size_t i = 0; i < r->n_kernels; i++) {
    const struct tk_report_kernel *k = &r->kernels[i];
    const struct finding_case c = {.limit = LIMIT_OCCUPANCY, .figure = 100 * k->of_sum, .kernel = k};
    if (k->occupancy < 0 || k->occupancy >= LOW_PERCENT || !is_kernel_worth(r, k) || is_sparse_by_design(k)) continue;
    return !is_beyond(r, c.limit, c.figure) || add_finding(to, &c);
  }
  return true;
}

static bool add_memory(struct finder *to) {
  const struct tk_report *r = to->r;
  struct finding_case c = {.limit = LIMIT_MEMORY};
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    const double v = percent(m->peak_allocated, m->capacity);
    to->any = to->any || m->capacity > 0;
    if (m->capacity <= 0 || !is_beyond(r, LIMIT_MEMORY, v)) continue;
    c.others += c.memory != NULL;
    if (c.memory && v <= c.figure) continue;
    c.memory = m;
    c.figure = v;
  }
  return !c.memory || add_finding(to, &c);
}

static bool add_oom(struct finder *to) {
  const struct report_oom *oom = &to->r->impl->oom;
  const struct finding_case c = {.limit = LIMIT_OOM, .figure = (double)oom->n, .oom = oom};
  return !is_beyond(to->r, LIMIT_OOM, c.figure) || add_finding(to, &c);
}

/* True for the name of a function. False for the frames with which V8 records its own state (v8/src/profiler/profile-generator.cc), and
 * for the frame that perf prints for an address without a symbol. */
static bool is_function(const char *name) {
  static const char *const STATES[] = {"", "(idle)", "(program)", "(garbage collector)", "(root)", "(unresolved function)",
                                       "[unknown]"};
  for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
    if (strcmp(name, STATES[i]) == 0) return false;
  return true;
}

/* Judges the function with the largest self weight. */
static bool add_function(struct finder *to) {
  const struct tk_report *r = to->r;
  const struct tk_report_function *f = r->functions;
  if (!to->whole || !r->n_functions || r->samples < FEWEST_SAMPLES || !is_function(f->name)) return true;
  const struct finding_case c = {.limit = LIMIT_FUNCTION, .figure = 100 * f->self_of_sum, .function = f};
  to->any = true;
  return !is_beyond(r, c.limit, c.figure) || add_finding(to, &c);
}

/* True if the rank arrives last more often than expected by chance, by more than two standard deviations. */
static bool is_often_last(const struct tk_report_meeting *m) {
  const double excess = (double)m->last - m->chance;
  return m->last >= FEWEST_LAST && excess > 0 && excess * excess > 4 * m->variance;
}

static bool add_straggler(struct finder *to) {
  const struct tk_report *r = to->r;
  uint64_t devices;
  const double sum = sum_windows(r, &devices), window = devices ? sum / (double)devices : 0;
  struct finding_case c = {.limit = LIMIT_STRAGGLER};
  for (size_t i = 0; to->whole && i < r->n_meetings; i++) {
    const struct tk_report_meeting *m = &r->meetings[i];
    const double v = percent(field_seconds(m->cost) - field_seconds(m->peer_cost), window);
    if (!is_often_last(m) || !is_beyond(r, c.limit, v)) continue;
    c.others += c.meeting != NULL;
    if (c.meeting && v <= c.figure) continue;
    c.meeting = m;
    c.figure = v;
  }
  if (c.meeting) c.step = step_of_rank(r, c.meeting->rank, c.meeting->delay_at);
  return !c.meeting || add_finding(to, &c);
}

static bool add_inputs(struct finder *to, enum threshold limit, uint64_t n) {
  const struct finding_case c = {.limit = limit, .figure = (double)n};
  return !is_beyond(to->r, limit, c.figure) || add_finding(to, &c);
}

/* ---- the list ---- */

/* Orders findings about incomplete inputs first, then by severity, then by weight. */
static int by_weight(const void *p, const void *q) {
  const struct found *a = p, *b = q;
  if (a->first != b->first) return a->first ? -1 : 1;
  if (*a->f.severity != *b->f.severity) return *a->f.severity == 'b' ? -1 : 1;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static bool list_findings(struct finder *found) {
  struct tk_report *r = found->r;
  r->findings = mem_array(&r->impl->mem, (uint64_t)found->n + 1, sizeof *r->findings);
  if (!r->findings) return false;
  if (found->n) qsort(found->v, found->n, sizeof *found->v, by_weight);
  for (uint32_t i = 0; i < found->n; i++) r->findings[r->n_findings++] = found->v[i].f;
  return true;
}

/* Stores the number of findings in each row. If nothing could be judged, stores the reason in r->unjudged. */
static void conclude(struct tk_report *r, const struct finder *found) {
  bool judged = false, incomplete = false;
  for (size_t i = 0; i < r->n_ranks; i++) {
    judged = judged || r->ranks[i].judged;
    incomplete = incomplete || r->ranks[i].incomplete;
  }
  if (!judged && r->n_ranks) r->unjudged = "the selection excludes part of the work";
  else if (!found->any && !found->n && incomplete) r->unjudged = "the traces are incomplete";
  else if (!found->any && !found->n) r->unjudged = "no device ran at least 10 pieces of work, and no host without devices has steps";
  for (size_t i = 0; i < r->n_ranks; i++) {
    r->ranks[i].findings = r->n_findings;
    r->ranks[i].judged = r->ranks[i].judged && !r->unjudged;
  }
}

bool findings_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  struct finder to = {.r = r, .whole = true};
  for (size_t i = 0; i < r->n_ranks; i++) to.whole = to.whole && r->ranks[i].judged && !r->ranks[i].incomplete;
  if (impl->opt.brief) return true;
  const bool ok = add_rows(&to) && add_kernel(&to) && add_occupancy(&to) && add_function(&to) && add_memory(&to) && add_oom(&to) &&
                  add_straggler(&to) && add_inputs(&to, LIMIT_TRUNCATED, impl->truncated) &&
                  add_inputs(&to, LIMIT_DAMAGED, impl->damaged) && add_inputs(&to, LIMIT_CAPPED, impl->capped) && list_findings(&to);
  mem_free(&impl->mem, to.v);
  if (ok) conclude(r, &to);
  return ok;
}
