/* curve.c - robust curves through points: a constant, a line, or a chain of lines.
 *
 * Points are (reading, offset) pairs of which a third may be late by anything.  A line starts from the median of slopes between
 * points far apart (Theil, Sen); then a chain of hat functions is fitted by weighted least squares, whose normal matrix has three
 * diagonals, with weights 1/|residual| first (least absolute deviations) and Tukey's biweight last, which keeps the precision
 * of least squares for the good points and gives the bad ones none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"

#define SECOND 1e9
#define MOST_SLOPE 5e-4 /* NTP slews by no more than 500 ppm */
#define USUAL_SLOPE 3e-5 /* quartz runs some 10 ppm fast or slow */
enum { FEWEST_FOR_LINE = 5, ENOUGH_FOR_SHAPE = 24 };

double curve_at(const struct curve *c, double x) {
  uint32_t lo = 0, hi = c->n > 1 ? c->n - 1 : 0;
  if (c->n == 0) return 0;
  if (c->n == 1) return c->y[0];
  while (hi - lo > 1) {
    uint32_t mid = (lo + hi) / 2;
    if (c->x[mid] <= x) lo = mid;
    else hi = mid;
  }
  return c->y[lo] + (x - c->x[lo]) * (c->y[hi] - c->y[lo]) / (c->x[hi] - c->x[lo]);
}

double curve_slope(const struct curve *c) {
  return c->n < 2 ? 0 : (c->y[c->n - 1] - c->y[0]) / (c->x[c->n - 1] - c->x[0]);
}

/* ---- medians ---- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void swap(double *a, double *b) {
  double was = *a;
  *a = *b;
  *b = was;
}

/* The one in the middle of v[lo], v[hi] and the one between them. */
static double pivot_of(const double *v, uint32_t lo, uint32_t hi) {
  double a = v[lo], b = v[lo + (hi - lo) / 2], c = v[hi];
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Quickselect, and sorting for what resists it.  Medians were a tenth of merging four ranks of 188 MB while they were sorted for. */
double point_nth(double *v, uint32_t n, uint32_t k) {
  uint32_t lo = 0, hi = n - 1;
  for (int rounds = 0; lo < hi && rounds < 64; rounds++) {
    double pivot = pivot_of(v, lo, hi);
    uint32_t i = lo, j = hi;
    for (;; i++, j--) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i >= j) break;
      swap(&v[i], &v[j]);
    }
    if (k <= j) hi = j;
    else lo = j + 1;
  }
  if (lo < hi) qsort(v + lo, hi - lo + 1, sizeof *v, by_value);
  return v[k];
}

double point_median(double *v, uint32_t n) {
  if (n == 0) return 0;
  double upper = point_nth(v, n, n / 2), lower = upper;
  if (n % 2) return upper;
  lower = v[0];
  for (uint32_t i = 1; i < n / 2; i++) lower = fmax(lower, v[i]);
  return (lower + upper) / 2;
}

static int by_x(const void *a, const void *b) {
  const struct point *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

/* ---- one fit ---- */

struct fit {
  const struct point *p;
  uint32_t n;
  double *w, *scratch; /* n each */
};

/* Differences of what has no memory, such as the delays of the first ranks to leave, are peaked (Laplace): for them least absolute
 * deviations say most.  For round ones (normal, or the sum of a few uniform ones) it is least squares.  Which they are is seen from the
 * middle deviation against their mean, without the far ones: 0.69 of a peaked distribution, 0.84 of the normal one. */
static bool is_peaked(const struct fit *f, const struct curve *c) {
  double middle, sum = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->n; i++) f->scratch[i] = fabs(f->p[i].y - curve_at(c, f->p[i].x));
  middle = point_median(f->scratch, f->n);
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->scratch[i] > 9 * middle) continue;
    sum += f->scratch[i];
    n++;
  }
  return f->n >= ENOUGH_FOR_SHAPE && middle < 0.77 * sum / n;
}

/* Deviation as of a normal distribution; clocks that count whole microseconds leave at least half of one. */
static double scale_of(const struct fit *f, const struct curve *c) {
  for (uint32_t i = 0; i < f->n; i++) f->scratch[i] = fabs(f->p[i].y - curve_at(c, f->p[i].x));
  return fmax(1.4826 * point_median(f->scratch, f->n), 300);
}

enum loss { ABSOLUTE, ABSOLUTE_SHARP, BIWEIGHT };

static void weigh_points(const struct fit *f, const struct curve *c, enum loss loss) {
  double scale = scale_of(f, c), least = loss == ABSOLUTE_SHARP ? scale / 16 : scale / 4;
  for (uint32_t i = 0; i < f->n; i++) {
    double r = fabs(f->p[i].y - curve_at(c, f->p[i].x)), u = r / (4.685 * scale);
    if (loss == BIWEIGHT) f->w[i] = u < 1 ? (1 - u * u) * (1 - u * u) : 0;
    else f->w[i] = 1 / fmax(r, least);
  }
}

/* Weighted least squares over hat functions with the knots of c.  A breath of stiffness between neighbours keeps knots without
 * weight defined. */
static void solve_knots(const struct fit *f, struct curve *c) {
  double diag[ALIGN_KNOTS] = {0}, off[ALIGN_KNOTS] = {0}, rhs[ALIGN_KNOTS] = {0}, sum = 0;
  uint32_t k = 0, n = c->n;
  for (uint32_t i = 0; i < f->n; i++) {
    double w = f->w[i], t = 0;
    while (k + 2 < n && f->p[i].x >= c->x[k + 1]) k++;
    if (n > 1) t = (f->p[i].x - c->x[k]) / (c->x[k + 1] - c->x[k]);
    diag[k] += w * (1 - t) * (1 - t);
    rhs[k] += w * (1 - t) * f->p[i].y;
    sum += w;
    if (n == 1) continue;
    off[k] += w * t * (1 - t);
    diag[k + 1] += w * t * t;
    rhs[k + 1] += w * t * f->p[i].y;
  }
  for (uint32_t i = 0; i + 1 < n; i++) {
    double stiff = 1e-9 * sum / n;
    diag[i] += stiff;
    diag[i + 1] += stiff;
    off[i] -= stiff;
  }
  for (uint32_t i = 1; i < n; i++) {
    double m = off[i - 1] / diag[i - 1];
    diag[i] -= m * off[i - 1];
    rhs[i] -= m * rhs[i - 1];
  }
  for (uint32_t i = n; i-- > 0;) c->y[i] = (rhs[i] - (i + 1 < n ? off[i] * c->y[i + 1] : 0)) / diag[i];
}

/* Refines c, which has knots and first values.  Returns the deviation that is left. */
static double refine(const struct fit *f, struct curve *c) {
  enum loss loss = ABSOLUTE;
  for (int round = 0; round < 14; round++) {
    if (round == 8) loss = is_peaked(f, c) ? ABSOLUTE_SHARP : BIWEIGHT;
    weigh_points(f, c, loss);
    solve_knots(f, c);
  }
  return scale_of(f, c);
}

/* ---- starts ---- */

static void start_constant(const struct fit *f, struct curve *c) {
  for (uint32_t i = 0; i < f->n; i++) f->scratch[i] = f->p[i].y;
  *c = (struct curve){.n = 1, .x = {f->p[0].x}, .y = {point_median(f->scratch, f->n)}};
}

/* Slopes between points half of all apart: n / 2 of them say as much as all pairs. */
static void start_line(const struct fit *f, struct curve *c) {
  double first = f->p[0].x, last = f->p[f->n - 1].x, slope, level;
  uint32_t half = f->n / 2, n = 0;
  for (uint32_t i = 0; i + half < f->n; i++)
    if (f->p[i + half].x > f->p[i].x) f->scratch[n++] = (f->p[i + half].y - f->p[i].y) / (f->p[i + half].x - f->p[i].x);
  slope = point_median(f->scratch, n);
  for (uint32_t i = 0; i < f->n; i++) f->scratch[i] = f->p[i].y - slope * (f->p[i].x - first);
  level = point_median(f->scratch, f->n);
  *c = (struct curve){.n = 2, .x = {first, last}, .y = {level, level + slope * (last - first)}};
}

/* Knots among the points, `per` of them apart and no two at one time. */
static void start_pieces(const struct fit *f, const struct curve *line, uint32_t per, struct curve *c) {
  uint32_t pieces = f->n / per < ALIGN_KNOTS - 1 ? f->n / per : ALIGN_KNOTS - 1;
  *c = (struct curve){.n = 0};
  for (uint32_t i = 0; i <= pieces; i++) {
    double x = f->p[(uint64_t)(f->n - 1) * i / pieces].x;
    if (c->n && x - c->x[c->n - 1] < 0.1 * SECOND) continue;
    c->x[c->n] = x;
    c->y[c->n++] = curve_at(line, x);
  }
}

static bool is_monotone(const struct curve *c) {
  for (uint32_t i = 0; i + 1 < c->n; i++)
    if (fabs(c->y[i + 1] - c->y[i]) > MOST_SLOPE * (c->x[i + 1] - c->x[i])) return false;
  return true;
}

/* ---- which ---- */

/* Two clocks always drift apart, by some 10 ppm; few points over a short time say less of it than that.  So the slope is weighed
 * against that prior, as normal distributions are: the line is turned about its middle towards the constant, and where more than a
 * fifth of it would go it is not worth having. */
static bool line_pays(const struct fit *f, struct curve *line, double scale) {
  double mean = 0, spread = 0, noise = scale * (1 + 5.0 / f->n), kept;
  for (uint32_t i = 0; i < f->n; i++) mean += f->p[i].x / f->n;
  for (uint32_t i = 0; i < f->n; i++) spread += (f->p[i].x - mean) * (f->p[i].x - mean);
  kept = spread / (spread + noise * noise / (USUAL_SLOPE * USUAL_SLOPE));
  double slope = curve_slope(line) * kept, level = curve_at(line, mean);
  for (int i = 0; i < 2; i++) line->y[i] = level + slope * (line->x[i] - mean);
  return is_monotone(line) && kept >= 0.8;
}

static void choose_curve(const struct fit *f, struct curve *c) {
  struct curve line, pieces;
  double span = f->p[f->n - 1].x - f->p[0].x, scale;
  start_constant(f, c);
  refine(f, c);
  if (f->n < FEWEST_FOR_LINE || span <= 0) return;
  start_line(f, &line);
  scale = refine(f, &line);
  if (line_pays(f, &line, scale)) *c = line;
  if (span < 60 * SECOND || f->n < 48) return;
  start_pieces(f, &line, 24, &pieces);
  if (pieces.n > 2 && refine(f, &pieces) < 0.8 * scale && is_monotone(&pieces)) *c = pieces;
}

void curve_fit(struct curve *c, struct point *p, uint32_t n, double *room) {
  struct fit f = {.p = p, .n = n, .w = room, .scratch = room + n};
  *c = (struct curve){.n = 0};
  if (n == 0) return;
  if (n) qsort(p, n, sizeof *p, by_x);
  choose_curve(&f, c);
}
