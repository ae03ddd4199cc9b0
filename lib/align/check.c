/* check.c - how good are the curves?
 *
 * Residuals: how far a host leaves a collective from the others.  Causality: nobody leaves a collective of all before the last one
 * came, so for any two hosts the difference of their clocks has bounds; bounds of all pairs are a graph of difference
 * constraints, and shortest paths in it are what they say together (Bellman and Ford).  Where a curve breaks a bound although the
 * bounds can be kept, it is moved to where they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"

#define FARTHEST 5e4 /* ns: a larger move would say that the estimate was no estimate */
#define OUTLIER 2e4  /* ns: residuals below are never counted as rejected */

/* ---- residuals ---- */

static void residuals(struct align_work *w, uint32_t host, struct align_host *out) {
  uint32_t n = 0;
  double limit;
  for (uint32_t i = w->host_first[host]; i < w->host_first[host + 1]; i++) {
    const struct align_member *m = &w->members[w->by_host[i]];
    if (m->used) w->values[n++] = fabs(align_true(w, host, m->end) - m->others);
  }
  out->anchors = n;
  if (n == 0) return;
  out->mad_ns = point_median(w->values, n);
  out->p95_ns = point_nth(w->values, n, (uint32_t)((n - 1) * 0.95 + 0.5));
  limit = fmax(6 * 1.4826 * out->mad_ns, OUTLIER);
  for (uint32_t i = 0; i < n; i++) out->rejected += w->values[i] > limit;
}

/* ---- violations ---- */

/* The outermost value and the outermost of any other host. */
struct two {
  double first, second;
  uint32_t host;
};

static void take_largest(struct two *t, uint32_t host, double v) {
  if (v > t->first) {
    t->second = t->first;
    t->first = v;
    t->host = host;
  } else if (v > t->second) {
    t->second = v;
  }
}
static double beside(const struct two *t, uint32_t host) { return t->host == host ? t->second : t->first; }

static double placed(const struct align_work *w, uint32_t host, double t, bool by_wall) {
  if (by_wall) return t + (double)(w->pivot[host] - w->pivot[w->p->reference]);
  return align_true(w, host, t);
}

/* Of the ranks of each host: who came and left last and first, and of those that the others wait for, or that wait for them. */
struct stays {
  struct two came, sent, left, received;
};
static const struct two NONE = {-INFINITY, -INFINITY, UINT32_MAX};

static void take_stay(const struct align_work *w, struct stays *s, const struct align_member *m, bool by_wall) {
  take_largest(&s->came, m->host, placed(w, m->host, m->last_start, by_wall));
  take_largest(&s->sent, m->host, placed(w, m->host, m->last_sent, by_wall));
  take_largest(&s->left, m->host, -placed(w, m->host, m->first_end, by_wall));
  take_largest(&s->received, m->host, -placed(w, m->host, m->first_received, by_wall));
}

static bool is_violated(const struct align_work *w, const struct stays *s, const struct align_member *m, bool by_wall) {
  return placed(w, m->host, m->first_end, by_wall) < beside(&s->sent, m->host) ||
         placed(w, m->host, m->first_received, by_wall) < beside(&s->came, m->host) ||
         placed(w, m->host, m->last_sent, by_wall) > -beside(&s->left, m->host) ||
         placed(w, m->host, m->last_start, by_wall) > -beside(&s->received, m->host);
}

/* Counts collectives in which a host leaves before another one has come, or comes when another one has left. */
static uint32_t violations(const struct align_work *w, struct align_solution *s, bool by_wall) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < w->n_collectives; i++) {
    const struct align_member *from = &w->members[w->first[i]], *to = &w->members[w->first[i + 1]];
    struct stays stays = {NONE, NONE, NONE, NONE};
    bool any = false;
    for (const struct align_member *m = from; m < to; m++) take_stay(w, &stays, m, by_wall);
    for (const struct align_member *m = from; m < to; m++) {
      bool bad = is_violated(w, &stays, m, by_wall);
      uint32_t *count = by_wall ? &s->hosts[m->host].before : &s->hosts[m->host].after;
      *count += bad;
      any = any || bad;
    }
    all += any;
  }
  return all;
}

/* ---- did they meet? ---- */

static void count_meetings(const struct align_work *w, struct align_solution *s) {
  for (uint32_t i = 0; i < w->n_members; i++) {
    const struct align_member *m = &w->members[i];
    double start = placed(w, m->host, m->last_start, true), end = placed(w, m->host, m->first_end, true);
    bool met = !m->used;
    for (uint32_t k = w->first[m->collective]; !met && k < w->first[m->collective + 1]; k++) {
      const struct align_member *o = &w->members[k];
      met = o != m && placed(w, o->host, o->last_start, true) <= end && placed(w, o->host, o->first_end, true) >= start;
    }
    s->hosts[m->host].never_met += !met;
  }
}

/* ---- bounds ---- */

struct bounds {
  uint32_t n;
  double *slack; /* [a * n + b]: b may be later than it is by this much less than a is; INFINITY = no bound */
};

static bool find_bounds(struct align_work *w, struct bounds *b) {
  b->n = w->p->n_hosts;
  b->slack = arena_alloc(&w->arena, (size_t)b->n * b->n * sizeof *b->slack);
  if (!b->slack) return false;
  for (size_t i = 0; i < (size_t)b->n * b->n; i++) b->slack[i] = INFINITY;
  for (uint32_t i = 0; i < w->n_collectives; i++) {
    const struct align_member *from = &w->members[w->first[i]], *to = &w->members[w->first[i + 1]];
    for (const struct align_member *x = from; x < to; x++) {
      double came = align_true(w, x->host, x->last_start), sent = align_true(w, x->host, x->last_sent);
      for (const struct align_member *y = from; y < to; y++) {
        double left = align_true(w, y->host, y->first_end), received = align_true(w, y->host, y->first_received);
        double *slack = &b->slack[(size_t)x->host * b->n + y->host];
        if (y != x) *slack = fmin(*slack, fmin(left - sent, received - came));
      }
    }
  }
  return true;
}

/* Lowers d[b] to d[a] + slack until nothing is lower; false = the bounds contradict each other. */
static bool relax_bounds(const struct bounds *b, double *d, bool reversed) {
  for (uint32_t round = 0; round <= b->n; round++) {
    bool changed = false;
    for (uint32_t x = 0; x < b->n; x++) {
      for (uint32_t y = 0; y < b->n && d[x] < INFINITY; y++) {
        double s = b->slack[reversed ? (size_t)y * b->n + x : (size_t)x * b->n + y];
        if (d[x] + s >= d[y] - 1e-3) continue;
        d[y] = d[x] + s;
        changed = true;
      }
    }
    if (!changed) return true;
  }
  return false;
}

static void intervals(const struct align_work *w, const struct bounds *b, double *d, struct align_solution *s) {
  bool feasible = true;
  for (int side = 0; side < 2; side++) {
    for (uint32_t h = 0; h < b->n; h++) d[h] = h == w->p->reference ? 0 : INFINITY;
    feasible = relax_bounds(b, d, side) && feasible;
    for (uint32_t h = 0; h < b->n; h++) *(side ? &s->hosts[h].low_ns : &s->hosts[h].high_ns) = side ? -d[h] : d[h];
  }
  for (uint32_t h = 0; h < b->n; h++) {
    struct align_host *host = &s->hosts[h];
    host->bounded = isfinite(host->low_ns) && isfinite(host->high_ns);
    host->feasible = host->bounded && feasible;
  }
}

/* ---- moving to where the bounds hold ---- */

static void keep_bounds(struct align_work *w, const struct bounds *b, double *d, struct align_solution *s) {
  memset(d, 0, b->n * sizeof *d);
  if (!relax_bounds(b, d, false)) return;
  for (uint32_t h = 0; h < b->n; h++)
    if (fabs(d[h] - d[align_root(w, h)]) > FARTHEST) return;
  for (uint32_t h = 0; h < b->n; h++) {
    double by = d[h] - d[align_root(w, h)];
    s->hosts[h].moved = by != 0;
    for (uint32_t i = 0; i < w->curve[h].n; i++) w->curve[h].y[i] += by;
  }
}

bool align_check(struct align_work *w, struct align_solution *s) {
  struct bounds b;
  double *d = arena_alloc(&w->arena, (size_t)w->p->n_hosts * sizeof *d);
  if (!d || !find_bounds(w, &b)) return false;
  keep_bounds(w, &b, d, s);
  if (!find_bounds(w, &b)) return false;
  intervals(w, &b, d, s);
  for (uint32_t h = 0; h < w->p->n_hosts; h++) residuals(w, h, &s->hosts[h]);
  count_meetings(w, s);
  s->before = violations(w, s, true);
  s->after = violations(w, s, false);
  s->collectives = w->n_collectives;
  return true;
}
