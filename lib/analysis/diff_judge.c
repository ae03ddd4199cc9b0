/* diff_judge.c - see diff_judge.h. */
#include "diff_judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"

double judge_student(double freedom) {
  static const double few[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom < 1) return INFINITY;
  if (freedom <= 10) return few[(int)freedom - 1];
  return 1.96 + 2.4 / freedom + 3 / (freedom * freedom);
}

static double mean_of(const double *v, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += v[i];
  return n ? sum / n : 0;
}

static double variance_of(const double *v, uint32_t n) {
  const double mean = mean_of(v, n);
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
  return n > 1 ? sum / (n - 1) : 0;
}

/* Returns the sample variance of the differences between n paired values. */
static double variance_between(const double *before, const double *after, uint32_t n) {
  double sum = 0, mean = 0;
  for (uint32_t i = 0; i < n; i++) mean += after[i] - before[i];
  mean /= n;
  for (uint32_t i = 0; i < n; i++) sum += (after[i] - before[i] - mean) * (after[i] - before[i] - mean);
  return sum / (n - 1);
}

double judge_noise(const struct diff_judge *j, uint32_t before, uint32_t after, bool paired) {
  const uint32_t n = j->set->sides[before].n_used, m = j->set->sides[after].n_used;
  if (n < 2 || m < 2) return -1;
  if (paired) return judge_student(n - 1) * sqrt(variance_between(j->v[before], j->v[after], n) / n);
  const double a = variance_of(j->v[before], n) / n, b = variance_of(j->v[after], m) / m, sum = a + b;
  if (sum <= 0) return 0;
  return judge_student(sum * sum / (a * a / (n - 1) + b * b / (m - 1))) * sqrt(sum);
}

double judge_error(const struct diff_judge *j, uint32_t side) {
  const uint32_t n = j->set->sides[side].n_used;
  return n < 2 ? -1 : sqrt(variance_of(j->v[side], n) / n);
}

/* True if the samples of both sides have the same rank and step numbers. */
static bool same_numbers(const struct diff_side *before, const struct diff_side *after) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < before->n_samples; i++) {
    const struct diff_sample *x = &before->samples[before->order[i]];
    if (!x->stepped) continue;
    while (k < after->n_samples && !after->samples[after->order[k]].stepped) k++;
    if (k == after->n_samples) return false;
    const struct diff_sample *y = &after->samples[after->order[k++]];
    if (x->rank != y->rank || x->step != y->step) return false;
  }
  return true;
}

struct diff_pair judge_pair(const struct diff_judge *j, uint32_t before, uint32_t after) {
  const struct diff_side *a = &j->set->sides[before], *b = &j->set->sides[after];
  const bool paired = a->n_used == b->n_used;
  return (struct diff_pair){paired, paired && j->set->by_step && same_numbers(a, b)};
}

static struct diff_mean judge_mean(const struct diff_judge *j, uint32_t side, uint64_t events, i128 self) {
  const double n = j->set->sides[side].n_used ? j->set->sides[side].n_used : 1;
  return (struct diff_mean){.events = events, .count = (double)events / n, .total = mean_of(j->v[side], j->set->sides[side].n_used),
                            .self = i128_double(self) / n};
}

struct diff_mean judge_row(struct diff_judge *j, uint32_t side, uint32_t row) {
  const struct diff_side *s = &j->set->sides[side];
  uint64_t events = 0;
  i128 self = 0;
  for (uint32_t i = 0; i < s->n_used; i++) j->v[side][i] = 0;
  for (; j->at[side] < s->n_cells && s->cells[j->at[side]].row == row; j->at[side]++) {
    const struct diff_cell *c = &s->cells[j->at[side]];
    const uint32_t place = s->place[c->sample];
    if (place == UINT32_MAX) continue;
    events += c->count;
    self += c->self;
    j->v[side][place] += i128_double(c->total);
  }
  return judge_mean(j, side, events, self);
}

/* Returns the means over all rows together. Uses self times, so that the time of nested events is counted once. */
struct diff_mean judge_all(struct diff_judge *j, uint32_t side) {
  const struct diff_side *s = &j->set->sides[side];
  uint64_t events = 0;
  for (uint32_t i = 0; i < s->n_used; i++) j->v[side][i] = 0;
  for (uint32_t i = 0; i < s->n_cells; i++) {
    const uint32_t place = s->place[s->cells[i].sample];
    if (place == UINT32_MAX) continue;
    events += s->cells[i].count - s->cells[i].again;
    j->v[side][place] += i128_double(s->cells[i].self);
  }
  struct diff_mean mean = judge_mean(j, side, events, 0);
  mean.self = mean.total;
  return mean;
}

struct diff_mean judge_steps(struct diff_judge *j, uint32_t side) {
  const struct diff_side *s = &j->set->sides[side];
  for (uint32_t i = 0; i < s->n_samples; i++)
    if (s->place[i] != UINT32_MAX) j->v[side][s->place[i]] = (double)s->samples[i].dur;
  const double mean = mean_of(j->v[side], s->n_used);
  return (struct diff_mean){.events = s->n_used, .count = 1, .total = mean, .self = mean};
}

struct tk_report_spread judge_spread(struct diff_judge *j, uint32_t side) {
  const uint32_t n = j->set->sides[side].n_used;
  double *v = j->v[side];
  if (!n) return (struct tk_report_spread){.count = 0};
  qsort(v, n, sizeof *v, order_doubles);
  return (struct tk_report_spread){.count = n, .min = (tk_time)v[0], .max = (tk_time)v[n - 1], .mean = (tk_time)(mean_of(v, n) + 0.5),
                                   .p50 = (tk_time)v[(n + 1) / 2 - 1], .p95 = (tk_time)v[n - n / 20 - 1],
                                   .deviation = (tk_time)(sqrt(variance_of(v, n)) + 0.5)};
}

bool judge_open(struct diff_judge *j, struct diff_set *set) {
  struct mem *mem = &set->mem;
  bool ok = true;
  *j = (struct diff_judge){.set = set, .v = mem_array(mem, set->n_sides, sizeof *j->v),
                           .at = mem_array(mem, set->n_sides, sizeof *j->at)};
  for (uint32_t i = 0; j->v && i < set->n_sides; i++) j->v[i] = NULL;
  for (uint32_t i = 0; j->v && j->at && i < set->n_sides; i++) {
    j->at[i] = 0;
    j->v[i] = mem_array(mem, (uint64_t)set->sides[i].n_samples + 1, sizeof **j->v);
    ok = ok && j->v[i];
  }
  return ok && j->v && j->at;
}

void judge_free(struct diff_judge *j) {
  if (!j->set) return;
  for (uint32_t i = 0; j->v && i < j->set->n_sides; i++) mem_free(&j->set->mem, j->v[i]);
  mem_free(&j->set->mem, j->v);
  mem_free(&j->set->mem, j->at);
}
