/* findings.c - see findings.h. A rule computes the figure of a row; the row with the highest figure becomes the finding. */
#include "findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures of a row ---- */

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static tk_time idle_of(const struct tk_report_split *s) { return s->length - s->compute - s->communication - s->copy; }

/* A row, with the split on which its figures are based. */
struct subject {
  const struct tk_report *r;
  const struct tk_report_rank *row;
  const struct tk_threshold *limits;
  struct tk_report_split split;
  bool device;     /* the row is a device */
  bool complete;   /* the work of its launches was recorded, so that idle time is idle time */
};

static struct subject subject_of(const struct tk_report *r, const struct tk_report_rank *row) {
  struct subject s = {.r = r, .row = row, .limits = r->impl->limits, .device = *row->device && row->work > 0};
  bool steps;
  s.split = report_split_of_row(row, &steps);
  s.complete = percent((double)row->unrecorded, (double)row->launch_calls) < s.limits[LIMIT_UNRECORDED].warning;
  return s;
}

enum { FEWEST_WORK = 10 }; /* with less work, the share of idle time has no meaning */

static bool can_be_idle(const struct subject *s) { return s->device && s->complete && s->row->work >= FEWEST_WORK; }

static bool share(const struct subject *s, bool known, tk_time part, double *v) {
  *v = percent((double)part, (double)s->split.length);
  return known && s->split.length > 0;
}

static bool of_idle(const struct subject *s, double *v) { return share(s, can_be_idle(s), idle_of(&s->split), v); }
static bool of_sync(const struct subject *s, double *v) { return share(s, can_be_idle(s), s->split.sync, v); }
static bool of_input(const struct subject *s, double *v) {
  return share(s, s->device ? can_be_idle(s) : s->row->n_steps > 0, s->split.input, v);
}
static bool of_compile(const struct subject *s, double *v) {
  return share(s, s->device ? can_be_idle(s) : s->row->n_steps > 0, s->split.compile, v);
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
  double idle;
  *v = s->row->n_steps ? (double)s->row->syncs_in_steps / (double)s->row->n_steps : 0;
  return s->row->n_steps && of_idle(s, &idle) && idle >= 10;
}

static bool of_small_kernels(const struct subject *s, double *v) {
  double idle;
  const tk_time host = s->split.launch + s->split.host;
  *v = percent((double)s->row->under_10us, (double)s->row->kernels);
  if (!of_idle(s, &idle) || idle < s->limits[LIMIT_DEVICE_IDLE].warning || s->row->kernels < 100) return false;
  return 2 * host >= idle_of(&s->split) && 2 * s->row->gap < s->row->times.idle;
}

static bool of_pageable(const struct subject *s, double *v) {
  *v = percent((double)s->row->pageable, (double)s->row->times.window);
  return s->device && s->row->work >= FEWEST_WORK;
}

static bool of_collections(const struct subject *s, double *v) {
  *v = percent((double)s->row->collecting, (double)s->row->length);
  return s->row->collections > 0;
}

static bool of_outlier(const struct subject *s, double *v) {
  const struct tk_report_spread *d = &s->row->step;
  *v = d->p50 > 0 ? (double)d->max / (double)d->p50 : 0;
  return d->outliers > 0;
}

static bool of_fp32(const struct subject *s, double *v) {
  *v = percent((double)s->row->fp32_matmul, (double)s->row->kernel_sum);
  return s->row->kernels >= FEWEST_WORK;
}

static bool of_small_grid(const struct subject *s, double *v) {
  *v = percent((double)s->row->small_grid, (double)s->row->kernel_sum);
  return s->row->gridded >= FEWEST_WORK;
}

static bool of_unrecorded(const struct subject *s, double *v) {
  *v = percent((double)s->row->unrecorded, (double)s->row->launch_calls);
  return s->device && s->row->unrecorded > 0;
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

/* The increase counts if it is more than three standard errors, so that noise is no drift. */
static bool of_drift(const struct subject *s, double *v) {
  const size_t n = s->row->n_steps, third = n / 3;
  if (third < 3) return false;
  const struct moments a = moments_of(s->row->steps, third), b = moments_of(s->row->steps + n - third, third);
  *v = percent(b.mean - a.mean, a.mean);
  return b.mean - a.mean > 3 * sqrt(a.error + b.error);
}

/* ---- rules ---- */

/* Parts of a step that rules are about; the step with the longest part shows the finding. */
static tk_time no_part(const struct tk_report_step *s) { return s->dur; }
static tk_time input_part(const struct tk_report_step *s) { return s->split.input; }
static tk_time compile_part(const struct tk_report_step *s) { return s->split.compile; }
static tk_time sync_part(const struct tk_report_step *s) { return s->split.sync; }
static tk_time copy_part(const struct tk_report_step *s) { return s->split.copy; }
static tk_time communication_part(const struct tk_report_step *s) { return s->split.communication; }

static const struct rule {
  enum threshold limit;
  bool (*figure)(const struct subject *s, double *v);
  tk_time (*part)(const struct tk_report_step *s); /* NULL = the finding is not about steps */
} RULES[] = {
  {LIMIT_DEVICE_IDLE, of_idle, NULL},
  {LIMIT_INPUT, of_input, input_part},
  {LIMIT_COMPILE, of_compile, compile_part},
  {LIMIT_COMPILE_TIME, of_compile_time, NULL},
  {LIMIT_SYNC, of_sync, sync_part},
  {LIMIT_SYNC_COUNT, of_sync_count, sync_part},
  {LIMIT_SMALL_KERNELS, of_small_kernels, NULL},
  {LIMIT_COMMUNICATION, of_communication, communication_part},
  {LIMIT_COPY, of_copy, copy_part},
  {LIMIT_PAGEABLE, of_pageable, NULL},
  {LIMIT_GC, of_collections, NULL},
  {LIMIT_STEP_OUTLIER, of_outlier, no_part},
  {LIMIT_STEP_DRIFT, of_drift, NULL},
  {LIMIT_FP32_MATMUL, of_fp32, NULL},
  {LIMIT_SMALL_GRID, of_small_grid, NULL},
  {LIMIT_UNRECORDED, of_unrecorded, NULL},
};
enum { N_RULES = sizeof RULES / sizeof *RULES };

static const struct tk_report_step *worst_step(const struct tk_report_rank *row, tk_time (*part)(const struct tk_report_step *)) {
  const struct tk_report_step *worst = NULL;
  for (size_t i = 0; part && i < row->n_steps; i++)
    if (part(&row->steps[i]) > (worst ? part(worst) : 0)) worst = &row->steps[i];
  return worst;
}

/* ---- findings ---- */

static bool is_beyond(const struct tk_report *r, enum threshold limit, double figure) {
  return figure >= r->impl->limits[limit].warning;
}

static const struct tk_report_step *step_around(const struct tk_report_rank *row, tk_time at) {
  const struct tk_report_step *step = NULL;
  for (size_t i = 0; !step && i < row->n_steps; i++)
    if (row->steps[i].at <= at && at < row->steps[i].at + row->steps[i].dur) step = &row->steps[i];
  return step;
}

/* Chooses the place: a time range of the trace, and the step. */
static void place(const struct finding_case *c, struct tk_report_finding *f) {
  const struct tk_report_rank *row = c->row;
  if (c->step) {
    f->has_step = true;
    f->step = c->step->number;
    f->at = c->step->at;
    f->length = c->step->dur;
  }
  if (c->limit == LIMIT_DEVICE_IDLE) {
    f->at = row->gap_at;
    f->length = row->gap;
  } else if (c->limit == LIMIT_GC) {
    f->at = row->collection_at;
    f->length = row->collection_max;
  } else if (c->kernel) {
    f->at = c->kernel->max_at;
    f->length = c->kernel->max;
  } else if (c->memory) {
    f->at = c->memory->at;
    f->length = 0;
  }
}

static int64_t finding_rank(const struct finding_case *c) {
  if (c->row) return c->row->rank;
  if (c->meeting) return c->meeting->rank;
  if (c->memory) return c->memory->rank;
  return c->kernel ? c->kernel->max_rank : -1;
}

static bool add_finding(struct tk_report *r, const struct finding_case *found) {
  struct tk_report_impl *impl = r->impl;
  struct finding_case c = *found;
  const struct tk_threshold *limit = &impl->limits[c.limit];
  char text[640], advice[320];
  if (!mem_grow(&impl->mem, (void **)&r->findings, &impl->cap_findings, r->n_findings + 1, sizeof *r->findings)) return false;
  c.threshold = c.figure >= limit->bad ? limit->bad : limit->warning;
  struct tk_report_finding *f = &r->findings[r->n_findings++];
  *f = (struct tk_report_finding){.id = limit->id, .severity = c.figure >= limit->bad ? "bad" : "warning", .figure = c.figure,
                                  .threshold = c.threshold, .unit = limit->unit, .rank = finding_rank(&c), .device = "", .input = "",
                                  .length = -1};
  if (c.row) f->device = c.row->device;
  if (c.row) f->input = c.row->input;
  place(&c, f);
  findings_say(&c, text, sizeof text, advice, sizeof advice);
  f->text = report_text(impl, text);
  f->advice = report_text(impl, advice);
  return !impl->mem.failed;
}

/* Finds the row with the highest figure of each rule, in one pass over the rows. */
static bool add_rows(struct tk_report *r) {
  struct finding_case worst[N_RULES] = {{0}};
  bool ok = true;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!r->ranks[i].judged) continue;
    const struct subject s = subject_of(r, &r->ranks[i]);
    for (size_t k = 0; k < N_RULES; k++) {
      struct finding_case *c = &worst[k];
      double v = 0;
      if (!RULES[k].figure(&s, &v) || !is_beyond(r, RULES[k].limit, v)) continue;
      c->others += c->row != NULL;
      if (c->row && v <= c->figure) continue;
      c->row = s.row;
      c->figure = v;
    }
  }
  for (size_t k = 0; ok && k < N_RULES; k++) {
    struct finding_case *c = &worst[k];
    c->r = r;
    c->limit = RULES[k].limit;
    if (c->row && c->limit == LIMIT_DEVICE_IDLE) c->step = step_around(c->row, c->row->gap_at);
    else if (c->row) c->step = worst_step(c->row, RULES[k].part);
    if (c->row) ok = add_finding(r, c);
  }
  return ok;
}

/* ---- findings about the job ---- */

static bool add_kernel(struct tk_report *r) {
  const struct tk_report_kernel *k = r->kernels;
  uint64_t count = 0;
  for (size_t i = 0; i < r->n_kernels; i++) count += r->kernels[i].count;
  if (r->n_kernels < 3 || count < FEWEST_WORK || strcmp(k->kind, "compute") != 0) return true;
  if (!is_beyond(r, LIMIT_DOMINANT_KERNEL, 100 * k->of_sum)) return true;
  const struct finding_case c = {.r = r, .limit = LIMIT_DOMINANT_KERNEL, .figure = 100 * k->of_sum, .kernel = k};
  return add_finding(r, &c);
}

static bool add_memory(struct tk_report *r) {
  struct finding_case c = {.r = r, .limit = LIMIT_MEMORY};
  for (size_t i = 0; i < r->n_memories; i++) {
    const struct tk_report_memory *m = &r->memories[i];
    const double v = percent(m->peak_allocated, m->capacity);
    if (m->capacity <= 0 || !is_beyond(r, LIMIT_MEMORY, v)) continue;
    c.others += c.memory != NULL;
    if (c.memory && v <= c.figure) continue;
    c.memory = m;
    c.figure = v;
  }
  return !c.memory || add_finding(r, &c);
}

static double in_seconds(struct tk_total t) { return (double)t.s + (double)t.ps / 1e12; }

/* Mean length of the windows of all devices, in seconds. */
static double mean_window(const struct tk_report *r) {
  double sum = 0;
  uint64_t n = 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (!*r->ranks[i].device) continue;
    sum += (double)r->ranks[i].times.window / 1e12;
    n++;
  }
  return n ? sum / (double)n : 0;
}

/* A rank is a straggler if it arrives last more often than chance would have it: twice its share of the collectives. */
static bool add_straggler(struct tk_report *r) {
  const double window = mean_window(r);
  struct finding_case c = {.r = r, .limit = LIMIT_STRAGGLER};
  for (size_t i = 0; i < r->n_meetings; i++) {
    const struct tk_report_meeting *m = &r->meetings[i];
    const double v = percent(in_seconds(m->cost), window);
    const bool often = m->last >= 3 && m->last * r->n_meetings >= 2 * m->met;
    if (!often || !is_beyond(r, LIMIT_STRAGGLER, v)) continue;
    c.others += c.meeting != NULL;
    if (c.meeting && v <= c.figure) continue;
    c.meeting = m;
    c.figure = v;
  }
  return !c.meeting || add_finding(r, &c);
}

static bool add_inputs(struct tk_report *r, enum threshold limit, uint64_t n) {
  const struct finding_case c = {.r = r, .limit = limit, .figure = (double)n};
  return !n || !is_beyond(r, limit, c.figure) || add_finding(r, &c);
}

/* ---- the list ---- */

/* Orders by severity, then by the ratio of the figure to the threshold of a warning. */
struct ranked {
  struct tk_report_finding f;
  double weight;
  size_t place;
};

static int by_weight(const void *p, const void *q) {
  const struct ranked *a = p, *b = q;
  if (*a->f.severity != *b->f.severity) return *a->f.severity == 'b' ? -1 : 1;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static double weight_of(const struct tk_report *r, const struct tk_report_finding *f) {
  for (size_t i = 0; i < N_THRESHOLDS; i++)
    if (strcmp(r->impl->limits[i].id, f->id) == 0) return f->figure / (r->impl->limits[i].warning + 1e-9);
  return 0;
}

static bool order_findings(struct tk_report *r) {
  struct ranked *v = mem_array(&r->impl->mem, r->n_findings + 1, sizeof *v);
  if (!v) return false;
  for (size_t i = 0; i < r->n_findings; i++) v[i] = (struct ranked){r->findings[i], weight_of(r, &r->findings[i]), i};
  qsort(v, r->n_findings, sizeof *v, by_weight);
  for (size_t i = 0; i < r->n_findings; i++) r->findings[i] = v[i].f;
  mem_free(&r->impl->mem, v);
  return true;
}

/* Removes the finding that a device is idle if one of its causes, which is a finding too, explains all but a little of it. */
static void drop_explained(struct tk_report *r) {
  const double enough = r->impl->limits[LIMIT_DEVICE_IDLE].warning;
  const struct tk_report_finding *idle = NULL;
  for (size_t i = 0; i < r->n_findings; i++)
    if (strcmp(r->findings[i].id, "device-idle") == 0) idle = &r->findings[i];
  for (size_t i = 0; idle && i < r->n_findings; i++) {
    const struct tk_report_finding *f = &r->findings[i];
    const bool cause = strcmp(f->id, "input") == 0 || strcmp(f->id, "compile") == 0 || strcmp(f->id, "sync") == 0;
    if (!cause || f->rank != idle->rank || strcmp(f->device, idle->device) != 0 || idle->figure - f->figure >= enough) continue;
    const size_t at = (size_t)(idle - r->findings);
    memmove(&r->findings[at], &r->findings[at + 1], (r->n_findings - at - 1) * sizeof *idle);
    r->n_findings--;
    return;
  }
}

bool findings_make(struct tk_report *r) {
  bool whole = true;
  for (size_t i = 0; i < r->n_ranks; i++) whole = whole && r->ranks[i].judged;
  if (r->impl->opt.brief) return true;
  bool ok = add_rows(r) && (!whole || add_kernel(r)) && add_memory(r) && add_straggler(r) &&
            add_inputs(r, LIMIT_TRUNCATED, r->impl->truncated) && add_inputs(r, LIMIT_CAPPED, r->impl->capped);
  if (!ok) return false;
  drop_explained(r);
  for (size_t i = 0; i < r->n_ranks; i++) r->ranks[i].findings = r->n_findings;
  return order_findings(r);
}
