/* check.c - checks that the aligned clocks satisfy causality, and finds how far each clock could be moved before it violates
 * causality.
 *
 * No member leaves a collective that synchronises all members before the last one has arrived. For two hosts in a collective,
 * this bounds the shift of one host relative to the shift of the other. Such difference constraints are combined by shortest
 * paths from the reference (Bellman-Ford). No table of pairs is needed: the arrival of the last member bounds all members, so
 * the two outermost members represent the collective, and a round takes time proportional to the number of members.
 *
 * The resulting interval is guaranteed, because it makes no assumption about the noise of ends. The estimate is inside the
 * interval or is moved there. The interval also does not assume that the map has the right shape: if a host becomes later and
 * later, its map drifts although its clock does not. Therefore bounds are computed for each block of time. Bounds of other
 * blocks also count, widened by the largest difference between the rates of clocks. Only the weakest bound of all blocks is
 * proven.
 *
 * A host that contradicts the combined bounds of the other hosts does not contribute to these bounds; otherwise it would
 * invalidate the intervals of every host connected to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "solve.h"
#include "base/keyed.h"
#include "base/order.h"

#define FARTHEST 5e4 /* ns: a larger shift means that the estimate was wrong */
#define TOUCH 1e3    /* ns: resolution of clocks that count microseconds; a smaller overlap is not a violation */
#define RATE 1e-4    /* largest relative rate of two clocks, in addition to the drift of the map */
enum { MOST_ROUNDS = 128, MOST_DENIALS = 8, MOST_BLOCKS = 32, OF_A_BLOCK = 8, MOST_JUMPS = 128 };

static double placed(const struct align_work *w, uint32_t host, double t, bool by_wall) {
  if (by_wall) return t + (double)(w->pivot[host] - w->pivot[w->p->reference]);
  return align_true(w, host, t);
}

/* ---- extremes without one host ---- */

/* The largest value, the host that has it, and the largest value of the other hosts. These yield, for any host, the largest
 * value of all others. */
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

/* The latest arrival in a collective of all ranks (came) and of those for which others wait (sent); the earliest departure,
 * negated, of all ranks (left) and of those that wait for the others (received). */
struct stays {
  struct two came, sent, left, received;
};

/* Computes the stays in a collective. by[host]: shift of the host; NULL = none. by_wall: use wall clocks, and exclude no
 * host. */
static struct stays stays_of(const struct align_work *w, uint32_t collective, const double *by, bool by_wall) {
  const struct two none = {-INFINITY, -INFINITY, UINT32_MAX};
  struct stays s = {none, none, none, none};
  for (uint32_t i = w->first[collective]; i < w->first[collective + 1]; i++) {
    const struct align_member *m = &w->members[i];
    if (!by_wall && w->denied[m->host]) continue;
    double moved = by ? by[m->host] : 0;
    take_largest(&s.came, m->host, placed(w, m->host, m->last_start, by_wall) + moved);
    take_largest(&s.sent, m->host, placed(w, m->host, m->last_sent, by_wall) + moved);
    take_largest(&s.left, m->host, -placed(w, m->host, m->first_end, by_wall) - moved);
    take_largest(&s.received, m->host, -placed(w, m->host, m->first_received, by_wall) - moved);
  }
  return s;
}

/* ---- violations ---- */

static bool is_violated(const struct align_work *w, const struct stays *s, const struct align_member *m, bool by_wall) {
  return placed(w, m->host, m->first_end, by_wall) < beside(&s->sent, m->host) - TOUCH ||
         placed(w, m->host, m->first_received, by_wall) < beside(&s->came, m->host) - TOUCH ||
         placed(w, m->host, m->last_sent, by_wall) > -beside(&s->left, m->host) + TOUCH ||
         placed(w, m->host, m->last_start, by_wall) > -beside(&s->received, m->host) + TOUCH;
}

/* Counts, by host, the collectives that the host leaves before another host arrives, or reaches after another host left.
 * by_wall: by wall clocks (align_host.before), otherwise by the aligned clocks (after). Returns the number of collectives with
 * a violation. */
static uint32_t violations(const struct align_work *w, struct align_solution *s, bool by_wall) {
  uint32_t all = 0;
  for (uint32_t h = 0; h < w->p->n_hosts; h++) *(by_wall ? &s->hosts[h].before : &s->hosts[h].after) = 0;
  for (uint32_t c = 0; c < w->n_collectives; c++) {
    struct stays stays = stays_of(w, c, NULL, by_wall);
    bool any = false;
    for (uint32_t i = w->first[c]; i < w->first[c + 1]; i++) {
      const struct align_member *m = &w->members[i];
      bool bad = is_violated(w, &stays, m, by_wall);
      *(by_wall ? &s->hosts[m->host].before : &s->hosts[m->host].after) += bad;
      any = any || bad;
    }
    all += any;
  }
  return all;
}

/* Counts by host the collectives in which it did not meet another host: by wall clock, it left more than FARTHEST before the other one
 * arrived, or arrived that much after the other one left. */
static void count_meetings(const struct align_work *w, struct align_solution *s) {
  for (uint32_t c = 0; c < w->n_collectives; c++) {
    struct stays stays = stays_of(w, c, NULL, true);
    for (uint32_t i = w->first[c]; i < w->first[c + 1]; i++) {
      const struct align_member *m = &w->members[i];
      bool met = placed(w, m->host, m->last_start, true) <= -beside(&stays.left, m->host) + FARTHEST &&
                 placed(w, m->host, m->first_end, true) >= beside(&stays.came, m->host) - FARTHEST;
      s->hosts[m->host].never_met += !met;
    }
  }
}

/* ---- bounds ---- */

/* A subset of the collectives; list == NULL: the first n. */
struct some {
  const uint32_t *list;
  uint32_t n;
};

/* Tightens the bounds of each host's shift (most[host], least[host]). Returns true if any bound changed. */
static bool tighten(const struct align_work *w, struct some some, double *most, double *least) {
  bool changed = false;
  for (uint32_t k = 0; k < some.n; k++) {
    const uint32_t c = some.list ? some.list[k] : k;
    struct stays high = stays_of(w, c, most, false), low = stays_of(w, c, least, false);
    for (uint32_t i = w->first[c]; i < w->first[c + 1]; i++) {
      const struct align_member *m = &w->members[i];
      double came = align_true(w, m->host, m->last_start), sent = align_true(w, m->host, m->last_sent);
      double left = align_true(w, m->host, m->first_end), received = align_true(w, m->host, m->first_received);
      double upper = fmin(-beside(&high.left, m->host) - sent, -beside(&high.received, m->host) - came);
      double lower = fmax(beside(&low.sent, m->host) - left, beside(&low.came, m->host) - received);
      if (upper < most[m->host] - 1e-3) most[m->host] = upper, changed = true;
      if (lower > least[m->host] + 1e-3) least[m->host] = lower, changed = true;
    }
  }
  return changed;
}

static void bound(const struct align_work *w, struct some some, double *most, double *least) {
  uint32_t rounds = 0;
  for (uint32_t h = 0; h < w->p->n_hosts; h++) {
    most[h] = w->root[h] == h ? 0 : INFINITY;
    least[h] = w->root[h] == h ? 0 : -INFINITY;
  }
  while (rounds++ < MOST_ROUNDS && tighten(w, some, most, least)) {}
}

/* Computes the bounds of every host's shift relative to the root of its timeline, which does not move, and stores them in s.
 * `most` and `least` become the bounds by host. */
static void intervals(const struct align_work *w, double *most, double *least, struct align_solution *s) {
  const uint32_t n = w->p->n_hosts;
  bound(w, (struct some){NULL, w->n_collectives}, most, least);
  for (uint32_t h = 0; h < n; h++) {
    struct align_host *o = &s->hosts[h];
    uint32_t root = w->root[h];
    o->low_ns = -most[h];
    o->high_ns = -least[h];
    o->bounded = root != h && isfinite(least[h]) && isfinite(most[h]);
    o->feasible = o->bounded && least[h] <= most[h] + TOUCH && least[root] <= TOUCH && most[root] >= -TOUCH;
  }
}

/* Moves hosts until all bounds are satisfied, if a short shift is enough. */
static bool keep_bounds(struct align_work *w, struct align_solution *s) {
  bool moved = false;
  for (uint32_t h = 0; h < w->p->n_hosts; h++) {
    struct align_host *o = &s->hosts[h];
    double by = fmax(o->low_ns, fmin(o->high_ns, 0));
    if (!o->feasible || by == 0 || fabs(by) > FARTHEST) continue;
    for (uint32_t i = 0; i < w->curve[h].n; i++) w->curve[h].y[i] += by;
    o->moved_ns = by;
    moved = true;
  }
  return moved;
}

/* Excludes the hosts that contradict the others most: those with more than half as many violations as the worst one, except
 * roots of timelines. Returns false if no host can be excluded or there is no contradiction. */
static bool deny_worst(const struct align_work *w, struct align_solution *s) {
  uint32_t worst = 0, n = w->p->n_hosts;
  bool wrong = false;
  for (uint32_t h = 0; h < n; h++) wrong = wrong || (s->hosts[h].bounded && !s->hosts[h].feasible && !w->denied[h]);
  if (!wrong) return false;
  violations(w, s, false);
  for (uint32_t h = 0; h < n; h++)
    if (w->root[h] != h && !w->denied[h] && s->hosts[h].after > worst) worst = s->hosts[h].after;
  for (uint32_t h = 0; worst && h < n; h++)
    if (w->root[h] != h && 2 * s->hosts[h].after > worst) w->denied[h] = 1;
  return worst > 0;
}

/* ---- bounds that hold at any time ---- */

/* Collectives by block of time. Blocks begin at equal distances, and also wherever a map jumps. */
struct blocks {
  uint32_t n, *first, *list; /* first: by block, plus a final entry: index in `list` */
  double *from;              /* by block, plus a final entry: start of the block */
};

static double time_of(const struct align_work *w, uint32_t collective) {
  double t = INFINITY;
  for (uint32_t i = w->first[collective]; !isfinite(t) && i < w->first[collective + 1]; i++)
    t = align_true(w, w->members[i].host, w->members[i].first_end);
  return isfinite(t) ? t : 0;
}

/* True if the curve jumps between knots k and k + 1, because a piece ends at knot k and the next one begins at knot k + 1. */
static bool is_jump(const struct align_solution *s, const struct curve *c, uint32_t host, uint32_t k) {
  return s->hosts[host].n_stretches > 1 && k + 1 < c->n && k % 2;
}

static uint32_t list_jumps(const struct align_work *w, const struct align_solution *s, double *out) {
  uint32_t n = 0;
  for (uint32_t h = 0; h < w->p->n_hosts; h++)
    for (uint32_t k = 0; k < w->curve[h].n && n < MOST_JUMPS; k++)
      if (is_jump(s, &w->curve[h], h, k)) out[n++] = align_true(w, h, (w->curve[h].x[k] + w->curve[h].x[k + 1]) / 2);
  return n;
}

static uint32_t block_of(const struct blocks *b, double t) {
  uint32_t low = 0, high = b->n;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (b->from[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

static bool find_blocks(const struct align_work *w, const struct align_solution *s, struct arena *arena, struct blocks *out) {
  const uint32_t n = w->n_collectives;
  double low = INFINITY, high = -INFINITY;
  uint32_t even = n / OF_A_BLOCK < MOST_BLOCKS ? n / OF_A_BLOCK : MOST_BLOCKS;
  for (uint32_t c = 0; c < n; c++) low = fmin(low, time_of(w, c)), high = fmax(high, time_of(w, c));
  if (even == 0) even = 1;
  out->from = arena_alloc(arena, (MOST_BLOCKS + MOST_JUMPS + 2) * sizeof *out->from);
  out->first = arena_alloc(arena, (MOST_BLOCKS + MOST_JUMPS + 3) * sizeof *out->first);
  out->list = arena_alloc(arena, ((size_t)n + 1) * sizeof *out->list);
  uint32_t *of = arena_alloc(arena, ((size_t)n + 1) * sizeof *of);
  if (!out->from || !out->first || !out->list || !of) return false;
  for (uint32_t i = 0; i < even; i++) out->from[i] = low + (high - low) * i / even;
  out->n = even + list_jumps(w, s, out->from + even);
  qsort(out->from, out->n, sizeof *out->from, order_doubles);
  out->from[out->n] = high;
  for (uint32_t c = 0; c < n; c++) of[c] = block_of(out, time_of(w, c));
  keyed_lists(of, n, out->n, out->first, out->list);
  return true;
}

/* Sets out[k], for each block k, to the piece of the host's map that contains the block. */
static void find_pieces(const struct align_work *w, const struct align_solution *s, uint32_t host, const struct blocks *b,
                        uint32_t *out) {
  const struct curve *c = &w->curve[host];
  memset(out, 0, b->n * sizeof *out);
  for (uint32_t k = 0; k < c->n; k++) {
    double middle = is_jump(s, c, host, k) ? align_true(w, host, (c->x[k] + c->x[k + 1]) / 2) : INFINITY;
    for (uint32_t i = 0; i < b->n; i++) out[i] += b->from[i] >= middle - TOUCH;
  }
}

/* Returns the weakest upper bound of the blocks with collectives of the host. The bound of a block also follows from the other
 * blocks of its piece, widened by `rate` times the distance in time. v: bounds, by block and host. */
static double weakest(const double *v, uint32_t n_hosts, uint32_t host, const struct blocks *b, const uint32_t *piece, double rate) {
  double worst = -INFINITY;
  for (uint32_t i = 0; i < b->n; i++) {
    double best = INFINITY;
    if (b->first[i] == b->first[i + 1]) continue;
    for (uint32_t k = 0; k < b->n; k++) {
      double away = k > i ? b->from[k + 1] - b->from[i] : b->from[i + 1] - b->from[k];
      if (piece[k] == piece[i]) best = fmin(best, v[(size_t)k * n_hosts + host] + rate * away);
    }
    worst = fmax(worst, best);
  }
  return worst;
}

/* Returns the absolute drift of a host's map; 0 for a map with jumps. */
static double drift_of(const struct align_work *w, const struct align_solution *s, uint32_t host) {
  return s->hosts[host].n_stretches == 1 ? fabs(curve_slope(&w->curve[host])) : 0;
}

/* Bounds each host by the collectives of block k. `least` gets the negated lower bounds, so that the weakest is the largest. */
static void bound_block(const struct align_work *w, const struct blocks *b, uint32_t k, double *most, double *least) {
  bound(w, (struct some){b->list + b->first[k], b->first[k + 1] - b->first[k]}, most, least);
  for (uint32_t h = 0; h < w->p->n_hosts; h++) least[h] *= -1;
}

static bool prove(const struct align_work *w, struct align_solution *s) {
  const uint32_t n = w->p->n_hosts;
  struct arena arena = {.mem = w->p->mem};
  struct blocks b = {0};
  bool ok = find_blocks(w, s, &arena, &b);
  const size_t cells = (size_t)b.n * n;
  double *most = ok ? arena_alloc(&arena, 2 * cells * sizeof *most + 1) : NULL, *least = most ? most + cells : NULL;
  uint32_t *piece = most ? arena_alloc(&arena, (size_t)b.n * sizeof *piece + 1) : NULL;
  ok = piece != NULL;
  for (uint32_t k = 0; ok && k < b.n; k++) bound_block(w, &b, k, most + (size_t)k * n, least + (size_t)k * n);
  for (uint32_t h = 0; ok && h < n; h++) {
    struct align_host *o = &s->hosts[h];
    const double rate = RATE + drift_of(w, s, h);
    if (!o->bounded || !o->feasible) continue;
    find_pieces(w, s, h, &b, piece);
    o->low_ns = fmin(o->low_ns, -weakest(most, n, h, &b, piece, rate));
    o->high_ns = fmax(o->high_ns, weakest(least, n, h, &b, piece, rate));
    o->bounded = isfinite(o->low_ns) && isfinite(o->high_ns);
  }
  arena_free(&arena);
  return ok;
}

bool align_check(struct align_work *w, struct align_solution *s) {
  uint32_t n = w->p->n_hosts;
  w->denied = arena_zeros(&w->arena, (size_t)n + 1, 1);
  double *most = arena_alloc(&w->arena, ((size_t)n + 1) * sizeof *most);
  double *least = arena_alloc(&w->arena, ((size_t)n + 1) * sizeof *least);
  if (!most || !least || !w->denied) return false;
  for (int round = 0; round < MOST_DENIALS; round++) {
    intervals(w, most, least, s);
    if (keep_bounds(w, s)) intervals(w, most, least, s);
    if (!deny_worst(w, s)) break;
  }
  if (!w->p->placed && !prove(w, s)) return false;
  count_meetings(w, s);
  s->before = violations(w, s, true);
  s->after = violations(w, s, false);
  s->collectives = w->n_collectives;
  return true;
}
