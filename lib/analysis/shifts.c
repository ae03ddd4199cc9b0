/* shifts.c - see shifts.h. */
#include "shifts.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "diff_judge.h"

enum { SHORTEST = 2 }; /* minimum number of runs in a part */

/* Sums the series of Abramowitz and Stegun 26.7.3 and 26.7.4, which are exact for an integer number of degrees of freedom. */
double shifts_of_t(double t, uint32_t freedom) {
  const double pi = 3.14159265358979323846, angle = atan(fabs(t) / sqrt(freedom)), sine = sin(angle), square = cos(angle) * cos(angle);
  const bool odd = freedom % 2;
  double term = odd ? cos(angle) : 1, sum = freedom == 1 ? 0 : term;
  if (isinf(t)) return 0;
  for (uint32_t i = odd ? 3 : 2; i + 1 < freedom; i += 2) sum += term *= square * (i - 1) / i;
  const double within = odd ? 2 / pi * (angle + sine * sum) : sine * sum;
  return within < 1 ? 1 - within : 0;
}

/* A division of the runs [from, to) into [from, at) and [at, to): the means of both parts, and the standard error of the difference. */
struct division {
  double before, after, error;
  uint32_t at;
};

static double mean_between(const double *v, uint32_t from, uint32_t to) {
  double sum = 0;
  for (uint32_t i = from; i < to; i++) sum += v[i];
  return sum / (to - from);
}

static double squares_between(const double *v, uint32_t from, uint32_t to, double mean) {
  double sum = 0;
  for (uint32_t i = from; i < to; i++) sum += (v[i] - mean) * (v[i] - mean);
  return sum;
}

/* Returns a lower bound for the variance of the runs [from, to): the mean of their squared standard errors. */
static double least_variance(const struct series *s, uint32_t from, uint32_t to) {
  double sum = 0;
  for (uint32_t i = from; i < to; i++) sum += s->error[i] > 0 ? s->error[i] * s->error[i] : 0;
  return sum / (to - from);
}

static struct division divide(const struct series *s, uint32_t from, uint32_t at, uint32_t to) {
  struct division d = {.before = mean_between(s->v, from, at), .after = mean_between(s->v, at, to), .at = at};
  const double least = least_variance(s, from, to);
  double variance = (squares_between(s->v, from, at, d.before) + squares_between(s->v, at, to, d.after)) / (to - from - 2);
  if (variance < least) variance = least;
  d.error = sqrt(variance * (1.0 / (at - from) + 1.0 / (to - at)));
  return d;
}

static double t_of(const struct division *d) {
  const double delta = fabs(d->after - d->before);
  return delta > 0 ? delta / d->error : 0;
}

/* Finds the best division of the runs [from, to). Returns its corrected probability; 1 if there are too few runs. */
static double best_division(const struct series *s, uint32_t from, uint32_t to, struct division *best) {
  double most = -1;
  if (to - from < 2 * SHORTEST) return 1;
  for (uint32_t at = from + SHORTEST; at + SHORTEST <= to; at++) {
    const struct division d = divide(s, from, at, to);
    if (t_of(&d) <= most) continue;
    most = t_of(&d);
    *best = d;
  }
  const double p = shifts_of_t(most, to - from - 2) * (to - from - 2 * SHORTEST + 1);
  return p < 1 ? p : 1;
}

double shifts_probability(const struct series *s) {
  struct division best;
  return best_division(s, 0, s->n, &best);
}

static uint32_t find_within(const struct series *s, uint32_t from, uint32_t to, double limit, struct tk_compare_shift *found) {
  struct division best;
  const double p = best_division(s, from, to, &best);
  if (p >= 1 || p > limit) return 0;
  uint32_t n = find_within(s, from, best.at, limit, found);
  found[n++] = (struct tk_compare_shift){.run = best.at, .p = p};
  return n + find_within(s, best.at, to, limit, found + n);
}

uint32_t shifts_find(const struct series *s, double limit, struct tk_compare_shift *found) {
  const uint32_t n = find_within(s, 0, s->n, limit, found);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t from = i ? (uint32_t)found[i - 1].run : 0, to = i + 1 < n ? (uint32_t)found[i + 1].run : s->n;
    const struct division d = divide(s, from, (uint32_t)found[i].run, to);
    found[i].before = d.before;
    found[i].after = d.after;
    found[i].noise = judge_student(to - from - 2) * d.error;
  }
  return n;
}

double shifts_limit(double *p, size_t n, double share) {
  if (n) qsort(p, n, sizeof *p, order_doubles);
  for (size_t i = n; i > 0; i--)
    if (p[i - 1] <= share * (double)i / (double)n) return p[i - 1];
  return -1;
}
