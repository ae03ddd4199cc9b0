/* pieces.c - fits robust lines, and finds the points where one line changes to the next (pieces.h).
 *
 * A line starts as the median and the median of slopes (Theil-Sen) and is refined by least squares with the weights of
 * Student's t, which discount outliers. The slope has a prior because quartz drifts by tens of ppm at most; a few points over a
 * short time contain less information than the prior.
 *
 * Whether a clock was set is decided by evidence: a piece is split if the split raises the log-likelihood of its points by more
 * than the cost of the new parameters (14 + ln n nats: a level, a slope, a position among n points, and the rarity of such
 * changes). There is no search if the residuals of a line are only noise. */
#include "pieces.h"

#include <math.h>
#include <stdlib.h>

#define US 1e3
#define LEAST_SIGMA (0.5 * US) /* noise of clocks that count in whole microseconds */
#define USUAL_SLOPE 20e-6      /* slope of a whole trace or a short piece: drift of quartz */
#define SLEW 100e-6            /* slope of a longer piece: NTP is correcting the clock */
#define ANYTHING 2e7           /* ns: range over which outliers are spread */
#define ROUGH (60 * US)        /* if neighbours differ by more than this, the points do not follow a clock */
#define WORTH 0.8              /* a slope is set to 0 if the points determine less than this share of its value */
#define MOST_SLOPE 5e-4        /* largest plausible slope */
enum { FEWEST = 2, LONG_PIECE = 8, DEEPEST = 5, GRID = 24, CLOSE_BY = 4 };

double pieces_noise_density(double r, double sigma) { return -0.9604 - log(sigma) - 3.5 * log1p(r * r / (6 * sigma * sigma)); }

double piece_at(const struct piece *p, double x) { return p->level + p->slope * (x - p->x0); }

double pieces_at(const struct pieces *s, double x) {
  uint32_t k = 0;
  while (k + 1 < s->n && x >= s->v[k + 1].first) k++;
  return piece_at(&s->v[k], x);
}

bool pieces_begin(const struct pieces *s, double x) {
  for (uint32_t k = 1; k < s->n; k++)
    if (x > s->v[k - 1].last && x <= s->v[k].first) return true;
  return false;
}

/* ---- a line ---- */

static double scale_of(const struct piece *s, const struct point *p, double *room) {
  uint32_t n = 0;
  for (uint32_t i = s->from; i < s->to; i++) room[n++] = fabs(p[i].y - piece_at(s, p[i].x));
  return fmax(1.4826 * curve_median(room, n), LEAST_SIGMA);
}

static void start_line(struct piece *s, const struct point *p, double *room) {
  uint32_t n = s->to - s->from, half = n / 2, slopes = 0;
  double slope = 0;
  for (uint32_t i = s->from; n > 4 && i + half < s->to; i++)
    if (p[i + half].x > p[i].x) room[slopes++] = (p[i + half].y - p[i].y) / (p[i + half].x - p[i].x);
  if (slopes) slope = fmax(-MOST_SLOPE, fmin(MOST_SLOPE, curve_median(room, slopes)));
  if (fabs(slope) * (p[s->to - 1].x - p[s->from].x) < LEAST_SIGMA) slope = 0;
  s->x0 = p[s->from].x;
  s->slope = slope;
  for (uint32_t i = 0; i < n; i++) room[i] = p[s->from + i].y - slope * (p[s->from + i].x - s->x0);
  s->level = curve_median(room, n);
}

/* Performs one round of weighted least squares, with the prior of the slope. Returns how much of the slope the points
 * determine, 0..1. */
static double improve_line(struct piece *s, const struct point *p, double sigma, double usual) {
  double w_sum = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0, prior = sigma * sigma / (usual * usual), level = s->level, first = s->x0;
  for (uint32_t i = s->from; i < s->to; i++) {
    double r = (p[i].y - piece_at(s, p[i].x)) / sigma, w = 7 / (6 + r * r);
    w_sum += w;
    x_sum += w * (p[i].x - first);
    y_sum += w * (p[i].y - level);
  }
  double x0 = x_sum / w_sum, y0 = y_sum / w_sum;
  for (uint32_t i = s->from; i < s->to; i++) {
    double r = (p[i].y - piece_at(s, p[i].x)) / sigma, w = 7 / (6 + r * r), x = p[i].x - first - x0;
    xx += w * x * x;
    xy += w * x * (p[i].y - level - y0);
  }
  s->slope = fmax(-MOST_SLOPE, fmin(MOST_SLOPE, xy / (xx + prior)));
  s->x0 = first + x0;
  s->level = level + y0;
  s->level_error = sigma / sqrt(w_sum);
  s->slope_error = sigma / sqrt(xx + prior);
  return xx / (xx + prior);
}

/* Fits a line to a piece. `usual`: typical slope, the scale of its prior; `known`: scale of the noise, 0 = estimated from the
 * residuals. Returns the scale of the residuals. */
static double fit_line(struct piece *s, const struct point *p, double usual, double known, double *room) {
  s->first = p[s->from].x;
  s->last = p[s->to - 1].x;
  start_line(s, p, room);
  double kept = 0;
  for (int round = 0; round < (known > 0 ? 3 : 6); round++) kept = improve_line(s, p, known > 0 ? known : scale_of(s, p, room), usual);
  if (kept < WORTH) s->slope = 0, s->slope_error = usual; /* a slope of zero leaves durations unchanged */
  return known > 0 ? known : scale_of(s, p, room);
}

void pieces_line(struct pieces *out, const struct point *p, uint32_t n, double *room) {
  out->n = 1;
  out->v[0] = (struct piece){.to = n};
  out->sigma = fit_line(&out->v[0], p, USUAL_SLOPE, 0, room);
}

double pieces_residual(const struct pieces *s, const struct point *p, uint32_t i) {
  uint32_t k = 0;
  while (k + 1 < s->n && i >= s->v[k].to) k++;
  return p[i].y - piece_at(&s->v[k], p[i].x);
}

/* ---- change points ---- */

struct splitter {
  const struct point *p;
  double *room;
  double sigma, floor; /* floor: ln of the density of outliers, which have causes other than noise */
  uint32_t n;          /* number of points in all pieces */
  struct pieces *out;
};

/* Fits a line to the points [from, to). The prior of its slope is the drift of quartz or, with enough points, the rate of an
 * NTP correction. Returns the negative log-likelihood of the points. */
static double cost_of(const struct splitter *s, struct piece *piece, uint32_t from, uint32_t to) {
  double cost = 0;
  *piece = (struct piece){.from = from, .to = to};
  fit_line(piece, s->p, to - from >= LONG_PIECE ? SLEW : USUAL_SLOPE, s->sigma, s->room);
  for (uint32_t i = from; i < to; i++) cost -= fmax(s->floor, pieces_noise_density(s->p[i].y - piece_at(piece, s->p[i].x), s->sigma));
  return cost;
}

struct cut {
  uint32_t at;
  double cost;
  struct piece left, right;
};

static void try_cut(const struct splitter *s, struct cut *best, uint32_t from, uint32_t to, uint32_t at) {
  struct cut c = {.at = at};
  if (at < from + FEWEST || at + FEWEST > to) return;
  c.cost = cost_of(s, &c.left, from, at) + cost_of(s, &c.right, at, to);
  if (c.cost < best->cost) *best = c;
}

/* Returns the position of the largest change between consecutive points, which may be a jump. */
static uint32_t widest_step(const struct splitter *s, const struct piece *whole) {
  uint32_t at = whole->from + FEWEST;
  double most = -1;
  for (uint32_t i = whole->from + FEWEST; i + FEWEST <= whole->to; i++) {
    double before = (s->p[i - 1].y + s->p[i - 2].y) / 2, after = (s->p[i].y + s->p[i + (i + 1 < whole->to)].y) / 2;
    if (fabs(after - before) <= most) continue;
    most = fabs(after - before);
    at = i;
  }
  return at;
}

/* Returns the best position to cut a piece: tries a grid and the largest change, then searches closer and closer around the
 * best of these. */
static struct cut find_cut(const struct splitter *s, const struct piece *whole) {
  struct cut best = {.cost = INFINITY};
  uint32_t n = whole->to - whole->from, step = n / GRID + 1;
  for (uint32_t at = whole->from + FEWEST; at + FEWEST <= whole->to; at += step) try_cut(s, &best, whole->from, whole->to, at);
  try_cut(s, &best, whole->from, whole->to, widest_step(s, whole));
  for (step = (step + 1) / 2; isfinite(best.cost); step = (step + 1) / 2) {
    uint32_t at = best.at;
    try_cut(s, &best, whole->from, whole->to, at > step ? at - step : 0);
    try_cut(s, &best, whole->from, whole->to, at + step);
    if (step <= 1 && best.at == at) break;
  }
  uint32_t at = isfinite(best.cost) ? best.at : 0; /* an outlier may have hidden a better position nearby */
  for (uint32_t i = at > CLOSE_BY ? at - CLOSE_BY : 0; at && i <= at + CLOSE_BY; i++) try_cut(s, &best, whole->from, whole->to, i);
  return best;
}

static bool is_monotone(const struct splitter *s, const struct cut *c) {
  const struct point *a = &s->p[c->at - 1], *b = &s->p[c->at];
  return piece_at(&c->right, b->x) - piece_at(&c->left, a->x) < b->x - a->x;
}

static void split(struct splitter *s, const struct piece *whole, double cost, int depth) {
  double price = 14 + log(s->n);
  if (depth < DEEPEST && whole->to - whole->from >= 2 * FEWEST + 1 && s->out->n + 1 < ALIGN_PIECES) {
    struct cut c = find_cut(s, whole);
    if (c.cost + price < cost && is_monotone(s, &c)) {
      double left = cost_of(s, &c.left, c.left.from, c.left.to), right = cost_of(s, &c.right, c.right.from, c.right.to);
      split(s, &c.left, left, depth + 1);
      split(s, &c.right, right, depth + 1);
      return;
    }
  }
  s->out->v[s->out->n++] = *whole;
}

/* Moves the boundary between two pieces to the position where both fit best, because the pieces may have been split since the
 * boundary was chosen. Returns true if it moved. */
static bool move_boundary(const struct splitter *s, struct piece *a, struct piece *b) {
  struct cut best = {.cost = INFINITY};
  const uint32_t at = b->from, reach = 2 * CLOSE_BY;
  try_cut(s, &best, a->from, b->to, at);
  for (uint32_t i = at > reach ? at - reach : 0; i <= at + reach; i++) try_cut(s, &best, a->from, b->to, i);
  if (!isfinite(best.cost) || best.at == at || !is_monotone(s, &best)) return false;
  *a = best.left;
  *b = best.right;
  return true;
}

static void move_boundaries(const struct splitter *s) {
  enum { ROUNDS = 4 };
  bool moved = s->out->n > 2;
  for (int round = 0; moved && round < ROUNDS; round++) {
    moved = false;
    for (uint32_t k = 0; k + 1 < s->out->n; k++) moved = move_boundary(s, &s->out->v[k], &s->out->v[k + 1]) || moved;
  }
}

/* True if the residuals are not just small noise: some are outliers, their scale is large, or neighbours tend to have the same
 * sign. */
static bool has_structure(const struct pieces *s, const struct point *p, uint32_t n) {
  double sum = 0, product = 0, last = 0;
  uint32_t far = 0;
  for (uint32_t i = 0; i < n; i++) {
    double r = fmax(-4, fmin(4, pieces_residual(s, p, i) / s->sigma));
    far += fabs(r) >= 4;
    sum += r * r;
    if (i) product += r * last;
    last = r;
  }
  return far > 0 || s->sigma > 4 * US || product > 0.3 * sum;
}

/* Returns the scale of the differences between neighbouring points, which a slow pattern does not affect. */
static double scale_of_neighbours(const struct point *p, uint32_t n, double *room) {
  for (uint32_t i = 0; i + 1 < n; i++) room[i] = fabs(p[i + 1].y - p[i].y);
  return n > 1 ? fmax(1.4826 / sqrt(2) * curve_median(room, n - 1), LEAST_SIGMA) : LEAST_SIGMA;
}

/* Returns the share of isolated outliers, limited to 2% to 30%. */
static double far_share(const struct pieces *s, const struct point *p, uint32_t n) {
  uint32_t far = 0;
  for (uint32_t i = 1; i + 1 < n; i++)
    far += fmin(fabs(p[i].y - p[i - 1].y), fabs(p[i].y - p[i + 1].y)) > 6 * s->sigma;
  return fmax(0.02, fmin(0.3, (double)far / n));
}

static double scale_of_pieces(const struct pieces *s, const struct point *p, uint32_t n, double *room) {
  for (uint32_t i = 0; i < n; i++) room[i] = fabs(pieces_residual(s, p, i));
  return fmax(1.4826 * curve_median(room, n), LEAST_SIGMA);
}

void pieces_split(struct pieces *out, const struct point *p, uint32_t n, double *room) {
  struct pieces found = {0};
  struct splitter s = {.p = p, .room = room, .n = n, .out = &found};
  struct piece whole;
  if (n < 2 * FEWEST + 1 || !has_structure(out, p, n)) return;
  s.sigma = fmin(out->sigma, scale_of_neighbours(p, n, room));
  if (s.sigma > ROUGH) return;
  s.floor = log(far_share(out, p, n) / ANYTHING);
  double cost = cost_of(&s, &whole, 0, n);
  split(&s, &whole, cost, 0);
  move_boundaries(&s);
  found.sigma = scale_of_pieces(&found, p, n, room);
  if (found.n > 1) *out = found;
}

/* ---- conversion to a curve ---- */

double pieces_jump(const struct pieces *s, const struct point *p, uint32_t k) {
  const struct piece *a = &s->v[k], *b = &s->v[k + 1];
  double last = p[a->to - 1].x, first = p[b->from].x;
  double early = piece_at(b, last) - piece_at(a, last), late = piece_at(b, first) - piece_at(a, first);
  return fabs(early) > fabs(late) ? early : late;
}

void pieces_curve(const struct pieces *s, const struct point *p, struct curve *c) {
  c->n = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    const struct piece *a = &s->v[i];
    double ends[2] = {p[a->from].x, p[a->to - 1].x};
    bool line = a->slope != 0 && ends[1] > ends[0];
    for (int k = 0; k < (line || s->n > 1 ? 2 : 1); k++) {
      if (c->n && ends[k] <= c->x[c->n - 1]) continue;
      c->x[c->n] = ends[k];
      c->y[c->n++] = piece_at(a, ends[k]);
    }
  }
}
