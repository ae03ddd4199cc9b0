/* stretches.c - finds the gaps in which a clock was set (stretches.h). */
#include "stretches.h"

#include <math.h>

static bool is_far(const struct posterior *p, uint32_t i) {
  return fabs(pieces_residual(&p->best.fit, p->points, i)) > 5 * p->best.fit.sigma;
}

/* Sets the gap after stretch k, in which either offset may be right. A clock that was set back by `jump` showed the readings of
 * the last `jump` ns a second time. Collectives at a gap that fit neither side are inside it: the clock may have been set
 * twice. */
static void take_gap(struct align_host *o, int64_t pivot, const struct posterior *p, uint32_t k) {
  const struct pieces *fit = &p->best.fit;
  double jump = pieces_jump(fit, p->points, k), reach = fmax(0, -jump), beside = 0;
  struct align_gap *g = &o->gaps[k];
  uint32_t last = fit->v[k].to - 1, first = fit->v[k + 1].from;
  while (last > fit->v[k].from && is_far(p, last)) beside = fmax(beside, fabs(pieces_residual(fit, p->points, last--)));
  while (first + 1 < fit->v[k + 1].to && is_far(p, first)) beside = fmax(beside, fabs(pieces_residual(fit, p->points, first++)));
  reach = fmax(reach, beside);
  g->from_ns = pivot + (int64_t)(p->points[last].x - reach);
  g->to_ns = pivot + (int64_t)(p->points[first].x + reach);
  g->error_ns = fabs(jump) + beside + fmax(o->stretches[k].error_ns, o->stretches[k + 1].error_ns);
}

/* Shortens the outer stretches if the clock may have been set at their ends. If it was set back there, it showed some readings
 * twice. */
static void cut_edges(struct align_host *o, const struct posterior *p) {
  struct align_stretch *first = &o->stretches[0], *last = &o->stretches[o->n_stretches - 1];
  double early = 0, late = 0;
  for (uint32_t i = 0; i < p->first; i++) early = fmax(early, pieces_residual(&p->best.fit, p->points, i));
  for (uint32_t i = p->last + 1; i < p->n_points; i++) late = fmax(late, -pieces_residual(&p->best.fit, p->points, i));
  o->cut_front = p->first > 0;
  o->cut_back = p->last + 1 < p->n_points;
  first->from_ns += (int64_t)fmin(early, (double)(first->to_ns - first->from_ns));
  last->to_ns -= (int64_t)fmin(late, (double)(last->to_ns - last->from_ns));
}

void stretches_limit(struct align_host *o, int64_t pivot_ns, const struct posterior *p) {
  for (uint32_t i = 0; i + 1 < o->n_stretches; i++) take_gap(o, pivot_ns, p, i);
  cut_edges(o, p);
}

bool stretches_leave(const struct align_host *o, int64_t pivot_ns, double t) {
  if (!o->n_stretches) return false;
  if (o->cut_front && t < (double)(o->stretches[0].from_ns - pivot_ns)) return true;
  if (o->cut_back && t > (double)(o->stretches[o->n_stretches - 1].to_ns - pivot_ns)) return true;
  for (uint32_t i = 0; i + 1 < o->n_stretches; i++)
    if (t > (double)(o->gaps[i].from_ns - pivot_ns) && t < (double)(o->gaps[i].to_ns - pivot_ns)) return true;
  return false;
}

void stretches_widen(struct align_host *o, double by) {
  for (uint32_t i = 0; i < o->n_stretches; i++) o->stretches[i].error_ns = hypot(o->stretches[i].error_ns, by);
  for (uint32_t i = 0; i + 1 < o->n_stretches; i++) o->gaps[i].error_ns += by;
  o->error_ns = hypot(o->error_ns, by);
}

void stretches_narrow(struct align_host *o, double most) {
  for (uint32_t i = 0; i < o->n_stretches; i++) o->stretches[i].error_ns = fmin(o->stretches[i].error_ns, most);
  o->error_ns = fmin(o->error_ns, most);
}
