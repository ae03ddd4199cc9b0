/* runs.c - see runs.h. Sums the events of all runs (diff_set.h), compares each run with the first (diff_judge.h), and searches for
 * lasting changes (shifts.h). */
#include "runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "diff_judge.h"
#include "diff_rows.h"
#include "graph/diagnostics.h"
#include "shifts.h"

/* Accepted share of false positives among the rows that are reported with a lasting change. */
static const double CHANCE = 0.05;
/* A lasting change below this share of the step time is small; equal to the lowest threshold of a finding. */
static const double SMALL = 0.01;

struct tk_compare_impl {
  struct diff_set set;
  struct tk_compare_row sums[2];
  double *values, *errors; /* by run: means and standard errors of the current row */
};

bool runs_add(struct tk_compare_report *r, struct tk_trace *t, const struct track_origin *origins, size_t run, struct tk_err *err) {
  r->runs[run].inputs++;
  return diff_set_add(&r->impl->set, (uint32_t)run, t, origins, err);
}

void runs_remove_unread(struct tk_compare_report *r) {
  for (size_t i = r->n_runs; i-- > 0;) {
    if (r->runs[i].inputs) continue;
    diff_set_remove(&r->impl->set, (uint32_t)i);
    r->n_runs--;
    memmove(r->runs + i, r->runs + i + 1, (r->n_runs - i) * sizeof *r->runs);
  }
}

/* ---- figures of runs ---- */

/* True for an allocator of host memory: "CPU" of PyTorch, "gpu_host_bfc" of XLA. */
static bool is_of_host(const char *allocator) {
  static const char *const words[] = {"CPU", "cpu", "Host", "host", NULL};
  return text_any_holds(allocator, words);
}

void runs_figures(struct tk_compare_run *to, const struct tk_report *figures) {
  for (size_t i = 0; i < figures->n_ranks; i++) {
    const struct tk_report_rank *rank = &figures->ranks[i];
    if (rank->length > to->length) to->length = rank->length;
    if (!*rank->device) continue;
    to->devices++;
    to->work += rank->work;
    to->window += (rank->times.window - to->window) / (tk_time)to->devices;
    to->busy += (rank->times.busy - to->busy) / (tk_time)to->devices;
  }
  for (size_t i = 0; i < figures->n_memories; i++) {
    const struct tk_report_memory *m = &figures->memories[i];
    const double peak = m->peak_reserved >= 0 ? m->peak_reserved : m->peak_allocated;
    if (is_of_host(m->allocator)) continue;
    if (peak > to->memory) to->memory = peak;
    if (m->peak_allocated > to->allocated) to->allocated = m->peak_allocated;
  }
}

/* ---- rows ---- */

static enum tk_compare_state state_of(const struct tk_compare_cell *base, const struct tk_compare_cell *c) {
  if (c == base) return TK_COMPARE_BASE;
  if (!c->events) return base->events ? TK_COMPARE_GONE : TK_COMPARE_ABSENT;
  if (!base->events) return TK_COMPARE_NEW;
  if (c->noise < 0) return TK_COMPARE_UNKNOWN;
  return fabs(c->delta) <= c->noise ? TK_COMPARE_NOISE : TK_COMPARE_CHANGED;
}

/* Stores the means of one run in its cell of the row. */
static void put_cell(const struct diff_judge *j, struct tk_compare_row *row, uint32_t run, struct diff_mean m) {
  row->runs[run] = (struct tk_compare_cell){.events = m.events, .count = m.count, .total = m.total, .self = m.self,
                                            .error = judge_error(j, run)};
}

static void end_cells(const struct diff_judge *j, const struct tk_compare_report *r, struct tk_compare_row *row) {
  struct tk_compare_cell *base = row->runs;
  for (uint32_t i = 0; i < row->n_runs; i++) {
    struct tk_compare_cell *c = &row->runs[i];
    c->delta = c->total - base->total;
    c->noise = i ? judge_noise(j, 0, i, r->runs[i].paired) : 0;
    c->state = state_of(base, c);
  }
}

static bool new_cells(struct tk_compare_report *r, struct tk_compare_row *row) {
  row->runs = mem_array(&r->impl->set.mem, r->n_runs, sizeof *row->runs);
  row->n_runs = row->runs ? r->n_runs : 0;
  return row->runs != NULL;
}

static bool occurs(const struct tk_compare_row *row) {
  for (size_t i = 0; i < row->n_runs; i++)
    if (row->runs[i].events) return true;
  return false;
}

static bool runs_rows(struct tk_compare_report *r, struct diff_judge *j) {
  struct diff_set *set = j->set;
  r->rows = mem_array(&set->mem, (uint64_t)set->n_rows + 1, sizeof *r->rows);
  if (!r->rows) return false;
  for (uint32_t i = 0; i < set->n_rows; i++) {
    struct tk_compare_row *row = &r->rows[r->n_rows];
    *row = (struct tk_compare_row){.name = NULL};
    if (!new_cells(r, row)) return false;
    for (uint32_t k = 0; k < set->n_sides; k++) put_cell(j, row, k, judge_row(j, k, i));
    if (!occurs(row)) {
      mem_free(&set->mem, row->runs);
      continue;
    }
    r->n_rows++;
    end_cells(j, r, row);
    row->name = diff_set_name(set, i, &row->name_len);
    row->is_mark = diff_set_is_mark(set, i);
    if (diff_set_is_short(set, i)) row->short_name = row->name;
    for (uint32_t k = 0; k < set->n_sides; k++) {
      struct tk_compare_cell *c = &row->runs[k];
      c->work_name = diff_set_work(set, k, i, &c->work_short_name, &c->work_names);
    }
  }
  return !set->mem.failed;
}

static bool runs_sums(struct tk_compare_report *r, struct diff_judge *j) {
  if (!new_cells(r, r->all) || (r->by_step && !new_cells(r, r->step))) return false;
  for (uint32_t k = 0; k < j->set->n_sides; k++) put_cell(j, r->all, k, judge_all(j, k));
  end_cells(j, r, r->all);
  if (!r->by_step) return true;
  for (uint32_t k = 0; k < j->set->n_sides; k++) put_cell(j, r->step, k, judge_steps(j, k));
  end_cells(j, r, r->step);
  for (uint32_t k = 0; k < j->set->n_sides; k++) r->runs[k].steps = judge_spread(j, k);
  return true;
}

/* ---- lasting changes ---- */

static struct series series_of(struct tk_compare_impl *impl, const struct tk_compare_row *row) {
  for (size_t i = 0; i < row->n_runs; i++) {
    impl->values[i] = row->runs[i].total;
    impl->errors[i] = row->runs[i].error;
  }
  return (struct series){impl->values, impl->errors, (uint32_t)row->n_runs};
}

static bool find_shifts(struct tk_compare_report *r, struct tk_compare_row *row, double limit) {
  const struct series s = series_of(r->impl, row);
  if (!row->n_runs || shifts_probability(&s) > limit) return true;
  row->shifts = mem_array(&r->impl->set.mem, s.n / 2 + 1, sizeof *row->shifts);
  if (!row->shifts) return false;
  row->n_shifts = shifts_find(&s, limit, row->shifts);
  return true;
}

static void mark_small(struct tk_compare_row *row, double floor) {
  for (size_t i = 0; i < row->n_shifts; i++) row->shifts[i].small = fabs(row->shifts[i].after - row->shifts[i].before) < floor;
}

/* Marks small changes: those below SMALL times the step time of the run with the longest steps or, if there are no steps, times the
 * time of all events. */
static void mark_smalls(struct tk_compare_report *r) {
  const struct tk_compare_row *whole = r->by_step ? r->step : r->all;
  double most = 0;
  for (size_t i = 0; i < whole->n_runs; i++) most = fmax(most, whole->runs[i].total);
  mark_small(r->all, SMALL * most);
  if (r->by_step) mark_small(r->step, SMALL * most);
  for (size_t i = 0; i < r->n_rows; i++) mark_small(&r->rows[i], SMALL * most);
}

static bool runs_trends(struct tk_compare_report *r) {
  struct mem *mem = &r->impl->set.mem;
  double *p = mem_array(mem, r->n_rows + 1, sizeof *p);
  if (!p) return false;
  for (size_t i = 0; i < r->n_rows; i++) {
    const struct series s = series_of(r->impl, &r->rows[i]);
    p[i] = shifts_probability(&s);
  }
  const double limit = shifts_limit(p, r->n_rows, CHANCE);
  bool ok = find_shifts(r, r->all, CHANCE) && find_shifts(r, r->step, CHANCE);
  for (size_t i = 0; ok && i < r->n_rows; i++) ok = find_shifts(r, &r->rows[i], limit);
  mem_free(mem, p);
  if (ok) mark_smalls(r);
  return ok;
}

/* ---- order ---- */

static double largest_shift(const struct tk_compare_row *row) {
  double most = -1;
  for (size_t i = 0; i < row->n_shifts; i++)
    if (!row->shifts[i].small) most = fmax(most, fabs(row->shifts[i].after - row->shifts[i].before));
  return most;
}

static double largest_delta(const struct tk_compare_row *row) {
  double most = 0;
  for (size_t i = 0; i < row->n_runs; i++) most = fmax(most, fabs(row->runs[i].delta));
  return most;
}

static int by_change(const void *p, const void *q) {
  const struct tk_compare_row *a = p, *b = q;
  const double x = largest_shift(a), y = largest_shift(b), v = largest_delta(a), w = largest_delta(b);
  if (a->is_mark != b->is_mark) return a->is_mark ? 1 : -1;
  if (x != y) return x > y ? -1 : 1;
  if (v != w) return v > w ? -1 : 1;
  return diff_rows_order(a->name, a->name_len, b->name, b->name_len);
}

static const char **short_of(void *rows, size_t i) { return &((struct tk_compare_row *)rows)[i].short_name; }

/* ---- the report ---- */

static bool runs_all(struct tk_compare_report *r, struct diff_judge *j) {
  const struct diff_set *set = j->set;
  r->by_step = set->by_step;
  for (uint32_t i = 0; i < set->n_sides; i++) {
    const struct diff_pair pair = judge_pair(j, 0, i);
    struct tk_compare_run *run = &r->runs[i];
    run->paired = pair.paired;
    run->by_number = pair.by_number;
    run->ranks = set->sides[i].ranks;
    run->samples = set->sides[i].n_used;
    run->outside = set->sides[i].outside;
    run->outside_time = (double)set->sides[i].outside_time;
    run->step_name = diff_set_step_name(set, i);
    run->launches = diff_set_launches(set, i, &run->launches_per_step);
  }
  if (!runs_rows(r, j) || !runs_sums(r, j) || (set->opt.trends && !runs_trends(r))) return false;
  if (r->n_rows) qsort(r->rows, r->n_rows, sizeof *r->rows, by_change);
  return diff_set_shorten(j->set, r->rows, r->n_rows, short_of);
}

bool runs_close(struct tk_compare_report *r, struct tk_err *err) {
  struct diff_set *set = &r->impl->set;
  struct diff_judge j = {.set = NULL};
  const bool ok = diff_set_place(set) && judge_open(&j, set) && runs_all(r, &j);
  judge_free(&j);
  if (ok) diff_set_say(set, r->notes);
  return ok ? mem_check(&set->mem, err) : mem_refuse(&set->mem, err);
}

bool runs_open(struct tk_compare_report *r, const struct tk_diff_options *opt, const char *const *names, size_t n,
                  struct tk_err *err) {
  *r = (struct tk_compare_report){.impl = calloc(1, sizeof *r->impl), .notes = diagnostics_new()};
  if (!r->impl || !r->notes || !diff_set_open(&r->impl->set, opt, (uint32_t)n)) return err_set(err, TK_ELIMIT, "out of memory");
  struct diff_set *set = &r->impl->set;
  r->all = &r->impl->sums[0];
  r->step = &r->impl->sums[1];
  r->runs = mem_array(&set->mem, n, sizeof *r->runs);
  r->impl->values = mem_array(&set->mem, n, sizeof *r->impl->values);
  r->impl->errors = mem_array(&set->mem, n, sizeof *r->impl->errors);
  if (!r->runs || !r->impl->values || !r->impl->errors) return mem_refuse(&set->mem, err);
  for (size_t i = 0; i < n; i++) {
    const uint32_t name = intern(&set->texts, names[i], strlen(names[i]));
    r->runs[r->n_runs++] = (struct tk_compare_run){.name = name ? (const char *)set->texts.strs[name].bytes : "",
                                                   .memory = -1, .allocated = -1};
  }
  return mem_check(&set->mem, err);
}

static void free_row(struct mem *mem, struct tk_compare_row *row) {
  mem_free(mem, row->runs);
  mem_free(mem, row->shifts);
}

static void runs_clear(struct tk_compare_report *r) {
  tk_diagnostics_free(r->notes);
  if (!r->impl) return;
  struct mem *mem = &r->impl->set.mem;
  for (size_t i = 0; i < r->n_rows; i++) free_row(mem, &r->rows[i]);
  free_row(mem, &r->impl->sums[0]);
  free_row(mem, &r->impl->sums[1]);
  mem_free(mem, r->rows);
  mem_free(mem, r->runs);
  mem_free(mem, r->impl->values);
  mem_free(mem, r->impl->errors);
  diff_set_free(&r->impl->set);
  free(r->impl);
}

void tk_compare_report_free(struct tk_compare_report *r) {
  if (r) runs_clear(r);
  free(r);
}
