/* diff.c - see diff.h. Sums the events of both runs (diff_set.h); for each row, computes the mean over all samples and the error of the
 * difference between the runs (diff_judge.h). */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_judge.h"
#include "diff_rows.h"
#include "graph/diagnostics.h"

struct tk_diff_impl {
  struct diff_set set;
  struct tk_diff_row sums[2];
  struct tk_compare_run runs[2];
};

bool diff_add(struct tk_diff_report *r, struct tk_trace *t, const struct track_origin *origins, int side, struct tk_err *err) {
  r->inputs[side]++;
  return diff_set_add(&r->impl->set, (uint32_t)side, t, origins, err);
}

/* ---- rows ---- */

static void put_side(struct tk_diff_row *row, int side, struct diff_mean m) {
  row->events[side] = m.events;
  row->count[side] = m.count;
  row->total[side] = m.total;
  row->self[side] = m.self;
}

static void end_row(const struct diff_judge *j, const struct tk_diff_report *r, struct tk_diff_row *row) {
  row->delta = row->total[1] - row->total[0];
  row->noise = judge_noise(j, 0, 1, r->paired);
}

static void diff_steps(struct diff_judge *j, struct tk_diff_report *r) {
  if (!r->by_step) return;
  for (int side = 0; side < 2; side++) put_side(r->step, side, judge_steps(j, (uint32_t)side));
  end_row(j, r, r->step);
  for (int side = 0; side < 2; side++) r->steps[side] = judge_spread(j, (uint32_t)side);
}

static int by_cost(const void *p, const void *q) {
  const struct tk_diff_row *a = p, *b = q;
  const double x = fabs(a->delta), y = fabs(b->delta);
  if (a->is_mark != b->is_mark) return a->is_mark ? 1 : -1;
  if (x != y) return x > y ? -1 : 1;
  return diff_rows_order(a->name, a->name_len, b->name, b->name_len);
}

static const char **short_of(void *rows, size_t i) { return &((struct tk_diff_row *)rows)[i].short_name; }

static bool diff_rows(struct diff_judge *j, struct tk_diff_report *r) {
  struct diff_set *set = j->set;
  r->rows = mem_array(&set->mem, (uint64_t)set->n_rows + 1, sizeof *r->rows);
  if (!r->rows) return false;
  for (uint32_t i = 0; i < set->n_rows; i++) {
    struct tk_diff_row row = {.name = NULL};
    for (int side = 0; side < 2; side++) put_side(&row, side, judge_row(j, (uint32_t)side, i));
    if (row.events[0] + row.events[1] == 0) continue;
    end_row(j, r, &row);
    row.name = diff_set_name(set, i, &row.name_len);
    row.is_mark = diff_set_is_mark(set, i);
    if (diff_set_is_short(set, i)) row.short_name = row.name;
    for (uint32_t side = 0; side < 2; side++)
      row.work_name[side] = diff_set_work(set, side, i, &row.work_short_name[side], &row.work_names[side]);
    r->rows[r->n_rows++] = row;
  }
  if (r->n_rows) qsort(r->rows, r->n_rows, sizeof *r->rows, by_cost);
  return diff_set_shorten(set, r->rows, r->n_rows, short_of) && !set->mem.failed;
}

static bool diff_judge_sides(struct diff_judge *j, struct tk_diff_report *r) {
  const struct diff_set *set = j->set;
  const struct diff_pair pair = judge_pair(j, 0, 1);
  r->by_step = set->by_step;
  r->paired = pair.paired;
  r->by_number = pair.by_number;
  for (int side = 0; side < 2; side++) {
    r->ranks[side] = set->sides[side].ranks;
    r->samples[side] = set->sides[side].n_used;
    r->outside[side] = set->sides[side].outside;
  }
  if (!diff_rows(j, r)) return false;
  for (int side = 0; side < 2; side++) put_side(r->all, side, judge_all(j, (uint32_t)side));
  end_row(j, r, r->all);
  diff_steps(j, r);
  return true;
}

/* Copies the totals of one side to its row in the table of runs. */
static void end_run(struct tk_diff_report *r, int side) {
  struct tk_compare_run *run = &r->impl->runs[side];
  run->inputs = r->inputs[side];
  run->ranks = r->ranks[side];
  run->samples = r->samples[side];
  run->outside = r->outside[side];
  run->outside_time = (double)r->impl->set.sides[side].outside_time;
  run->step_name = diff_set_step_name(&r->impl->set, (uint32_t)side);
  run->launches = diff_set_launches(&r->impl->set, (uint32_t)side, &run->launches_per_step);
  run->paired = r->paired;
  run->by_number = r->by_number;
  run->steps = r->steps[side];
}

bool diff_close(struct tk_diff_report *r, struct tk_err *err) {
  struct diff_set *set = &r->impl->set;
  struct diff_judge j = {.set = NULL};
  const bool ok = diff_set_place(set) && judge_open(&j, set) && diff_judge_sides(&j, r);
  judge_free(&j);
  for (int side = 0; ok && side < 2; side++) end_run(r, side);
  if (ok) diff_set_say(set, r->notes);
  return ok ? mem_check(&set->mem, err) : mem_refuse(&set->mem, err);
}

/* ---- the report ---- */

bool diff_open(struct tk_diff_report *r, const struct tk_diff_options *opt, struct tk_err *err) {
  static const char *const sides[] = {"before", "after"};
  const char *const *names = opt->names ? opt->names : sides;
  *r = (struct tk_diff_report){.impl = calloc(1, sizeof *r->impl), .notes = diagnostics_new()};
  if (!r->impl || !r->notes || !diff_set_open(&r->impl->set, opt, 2)) return err_set(err, TK_ELIMIT, "out of memory");
  r->all = &r->impl->sums[0];
  r->step = &r->impl->sums[1];
  r->runs = r->impl->runs;
  for (int side = 0; side < 2; side++) {
    struct intern *texts = &r->impl->set.texts;
    const uint32_t name = intern(texts, names[side], strlen(names[side]));
    r->impl->runs[side] = (struct tk_compare_run){.name = name ? (const char *)texts->strs[name].bytes : "", .memory = -1,
                                                         .allocated = -1};
  }
  return true;
}

static void diff_clear(struct tk_diff_report *r) {
  tk_diagnostics_free(r->notes);
  if (!r->impl) return;
  mem_free(&r->impl->set.mem, r->rows);
  diff_set_free(&r->impl->set);
  free(r->impl);
}

void tk_diff_report_free(struct tk_diff_report *r) {
  if (r) diff_clear(r);
  free(r);
}
