/* answer.c - see answer.h. */
#include "answer.h"

#include <math.h>

#include "doubt.h"
#include "numbers.h"

#define LATE_SHARE 0.15 /* if a larger share of ends are outliers, late ends are normal */

static void find_edges(struct posterior *p, const double *r) {
  const double most = 5 * p->best.fit.sigma;
  p->first = 0;
  p->last = p->n_points - 1;
  while (p->first < p->last && fabs(r[p->first]) > most) p->first++;
  while (p->last > p->first && fabs(r[p->last]) > most) p->last--;
}

/* Stores in r the distance of each point from the fit. */
static void list_residuals(const struct posterior *p, double *r) {
  for (uint32_t i = 0; i < p->n_points; i++) r[i] = pieces_residual(&p->best.fit, p->points, i);
}

/* Fits a single line to the points of ranks that may be late, and sets p->spread to the largest distance of a point from it. */
static void fit_late(struct posterior *p, double *room) {
  const uint32_t n = p->n_points;
  pieces_line(&p->best.fit, p->points, n, room);
  list_residuals(p, room);
  for (uint32_t i = 0; i < n; i++) p->spread = fmax(p->spread, fabs(room[i]));
  p->shape = p->first = 0;
  p->last = n - 1;
  p->doubt = NULL;
}

bool answer_fit(const struct hypotheses *h, struct arena *arena, struct posterior *out) {
  struct hypothesis *y = &out->best;
  double *room = arena_alloc(arena, 2 * ((size_t)y->n + 1) * sizeof *room);
  out->points = arena_alloc(arena, ((size_t)y->n + 1) * sizeof *out->points);
  if (!room || !out->points) return false;
  uint32_t n = out->n_points = hypotheses_points(h, y, 1, out->points);
  pieces_line(&y->fit, out->points, n, room);
  pieces_split(&y->fit, out->points, n, room);
  y->offset = h->q->base + piece_at(&y->fit.v[y->fit.n / 2], out->points[n / 2].x);
  list_residuals(out, room);
  out->shape = doubt_shape(room, n, y->fit.sigma);
  find_edges(out, room);
  out->doubt = doubt_of(h->q, out, room);
  if (numbers_allow(h, out)) fit_late(out, room);
  for (uint32_t i = 0; i < n; i++) room[i] = fabs(room[i]), out->outliers += room[i] > 6 * y->fit.sigma;
  out->mad = curve_median(room, n);
  out->p95 = curve_nth(room, n, (uint32_t)((n - 1) * 0.95 + 0.5));
  if (out->outliers > LATE_SHARE * n) out->spread = fmax(out->spread, out->p95); /* any rank may be the late one */
  if (h->q->view->keyed && !out->doubt && out->spread > h->q->clock_error) out->doubt = DOUBT_SCHEDULED;
  return true;
}
