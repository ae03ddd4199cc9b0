/* hosts.c - finds inputs that share a clock (hosts.h).
 *
 * Inputs with the same host name should share a clock, but containers and clusters reuse names. The test is that collectives that two
 * inputs share must end together without any shift. Inputs without a host name may also share a clock. This is assumed if noise alone
 * explains their measured difference better than two clocks that happen to be so close.
 *
 * The first input of a name is compared with the others. Inputs that share no collective with the first one are compared with inputs
 * that do. */
#include "hosts.h"

#include <math.h>
#include <stdlib.h>

#include "posterior.h"
#include "base/keyed.h"

#define TOGETHER (25 * US) /* largest difference between the ends of a collective on inputs with one clock */
#define CLOSE (12 * US)    /* largest median of these differences */
#define WALL 3.3e-4        /* per us: probability density of two wall clocks being equal */
enum { FEWEST = 2, PASSES = 3 };

/* ---- inputs of one name ---- */

struct group {
  struct align_problem *p;
  struct sight *v;       /* sights (collectives as one host recorded them) of all inputs, by input */
  uint32_t *first;       /* by input, plus a final entry: index of its first sight */
  uint32_t *inputs, n;   /* the host's inputs */
  uint8_t *state;        /* by position in `inputs`: UNTESTED, MET (same clock) or APART */
};

enum { UNTESTED, MET, APART };

/* Compares the ends of the collectives that two inputs share, and returns MET, APART or UNTESTED. Collectives match by sequence
 * number, or otherwise as the nearest ones with the same label. */
static int compare(const struct view *v) {
  uint32_t near = 0, met = 0, asked = 0, first = 0;
  for (uint32_t i = 0; i < v->n_b; i++) {
    const struct sight *b = v->b[i];
    double best = INFINITY;
    while (first < v->n_a && v->a[first]->end < b->end - 40 * TOGETHER) first++;
    for (uint32_t k = first; k < v->n_a && v->a[k]->end <= b->end + 40 * TOGETHER; k++)
      if (v->a[k]->label == b->label && (!b->exact || v->a[k]->exact == b->exact)) best = fmin(best, fabs(v->a[k]->end - b->end));
    bool within = v->a[0]->end <= b->end + TOGETHER && v->a[v->n_a - 1]->end >= b->end - TOGETHER;
    asked += within || b->exact;
    met += best <= TOGETHER;
    near += best <= CLOSE;
  }
  if (asked < FEWEST) return v->n_b >= FEWEST && asked == 0 && v->b[0]->exact ? APART : UNTESTED;
  if (2 * met < asked) return APART;
  return 10 * met >= 6 * asked && 2 * near >= met ? MET : UNTESTED;
}

/* Sets *state for an input that could not be tested, by estimating its offset, with a high prior probability that it shares the
 * clock. */
static bool weigh(const struct group *g, struct view *view, struct arena *arena, uint8_t *state) {
  struct question q = {.view = view, .mem = g->p->mem, .clock_error = align_clock_error(g->p), .same = 0.9};
  struct posterior p;
  q.other_job = align_other_job(g->p);
  if (!posterior_find(&q, arena, &p)) return false;
  if (p.any && !p.doubt) *state = fabs(p.best.offset) <= CLOSE ? MET : APART;
  return true;
}

static bool test_input(struct group *g, struct timeline *common, uint32_t i) {
  struct arena arena = {.mem = g->p->mem};
  struct view view;
  uint32_t from = g->first[i], n = g->first[i + 1] - from;
  bool ok = timeline_view(common, g->v + from, n, &arena, &view);
  if (ok && view.coarse) view.n_a = 0; /* CPU spans of a collective begin at different times even if clocks are equal */
  if (ok && view.n_a && view.n_b) g->state[i] = (uint8_t)compare(&view);
  if (ok && view.n_a && view.n_b && g->state[i] == UNTESTED) ok = weigh(g, &view, &arena, &g->state[i]);
  if (ok && g->state[i] == MET) ok = timeline_join(common, g->v + from, n, &(struct curve){0}, 0);
  arena_free(&arena);
  return ok;
}

/* Places the inputs that share a collective with the first one, then retries the others against the longer timeline. */
static bool test_group(struct group *g) {
  struct timeline common;
  bool ok = true, any = true;
  timeline_init(&common, g->p->mem);
  uint32_t leader = 0;
  while (leader + 1 < g->n && g->first[leader] == g->first[leader + 1]) leader++;
  g->state[leader] = MET;
  ok = timeline_join(&common, g->v + g->first[leader], g->first[leader + 1] - g->first[leader], &(struct curve){0}, 0);
  for (int pass = 0; ok && any && pass < PASSES; pass++) {
    any = false;
    for (uint32_t i = 0; ok && i < g->n; i++) {
      if (g->state[i] == MET) continue;
      ok = test_input(g, &common, i);
      any = any || g->state[i] == MET;
    }
  }
  timeline_free(&common);
  return ok;
}

/* Assigns separate hosts to inputs whose clocks differ. */
static void take_states(struct group *g, uint32_t host, struct align_solution *s) {
  uint32_t untested = 0;
  for (uint32_t i = 0; i < g->n; i++) untested += g->state[i] == UNTESTED;
  for (uint32_t i = 0; i < g->n; i++) {
    if (g->state[i] != APART || s->cap <= g->p->n_hosts) continue;
    g->p->host_of[g->inputs[i]] = g->p->n_hosts;
    g->p->known[g->p->n_hosts++] = false;
  }
  s->hosts[host].assumed = untested > 0;
}

static int by_input(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  return (a->input > b->input) - (a->input < b->input);
}

/* Tests the inputs of one host. Anchors are sorted by input; at[i] is the index of the first anchor of input i. */
static bool test_host(struct align_problem *p, struct align_solution *s, const uint32_t *at, uint32_t host, struct group *g) {
  struct align_anchor none = {0}, *v = p->anchors->v ? p->anchors->v : &none;
  struct arena arena = {.mem = p->mem};
  uint32_t all = 0, made = 0;
  for (uint32_t i = 0; i < g->n; i++) all += at[g->inputs[i] + 1] - at[g->inputs[i]];
  g->v = arena_alloc(&arena, ((size_t)all + 1) * sizeof *g->v);
  g->first = arena_alloc(&arena, ((size_t)g->n + 1) * sizeof *g->first);
  g->state = arena_alloc(&arena, (size_t)g->n + 1);
  bool ok = g->v && g->first && g->state;
  int64_t pivot = INT64_MIN;
  for (uint32_t i = 0; ok && i < g->n; i++) {
    uint32_t from = at[g->inputs[i]], n = at[g->inputs[i] + 1] - from;
    if (n && pivot == INT64_MIN) pivot = v[from].end;
    g->state[i] = UNTESTED;
    g->first[i] = made;
    made += timeline_sights(v + from, n, pivot, g->v + made);
  }
  if (ok) g->first[g->n] = made;
  ok = ok && test_group(g);
  if (ok) take_states(g, host, s);
  arena_free(&arena);
  return ok;
}

bool hosts_test(struct align_problem *p, struct align_solution *s) {
  struct arena arena = {.mem = p->mem};
  const uint32_t n_hosts = p->n_hosts, n = p->anchors->n;
  uint32_t *at = arena_alloc(&arena, ((size_t)p->n_inputs + 2) * sizeof *at);
  uint32_t *first = arena_alloc(&arena, ((size_t)n_hosts + 2) * sizeof *first);
  uint32_t *inputs = arena_alloc(&arena, ((size_t)p->n_inputs + 1) * sizeof *inputs);
  bool ok = at && first && inputs;
  if (ok && n) qsort(p->anchors->v, n, sizeof *p->anchors->v, by_input);
  for (uint32_t i = 0, k = 0; ok && i <= p->n_inputs; i++) {
    at[i] = k;
    while (k < n && p->anchors->v[k].input == i) k++;
  }
  if (ok) keyed_lists(p->host_of, p->n_inputs, n_hosts, first, inputs);
  for (uint32_t h = 0; ok && h < n_hosts; h++) {
    struct group g = {.p = p, .inputs = inputs + first[h], .n = first[h + 1] - first[h]};
    if (p->known[h] && g.n > 1) ok = test_host(p, s, at, h, &g);
  }
  arena_free(&arena);
  return ok;
}

/* ---- hosts that may be one ---- */

struct standing {
  uint32_t host, root;
  uint32_t leader;  /* index of the first host that shares the clock */
  double at, error; /* ns: offset of the wall clock, and its standard deviation */
};

struct claims {
  struct claim *v;  /* by host: result before any hosts were joined */
  uint32_t *input;  /* by host: one of its inputs; ALIGN_NONE = the host has none */
  uint32_t n;
};

/* Result for a host before it was joined with others. */
struct claim {
  int64_t from_ns, to_ns; /* first and last reading that supports the result */
  double offset[2];       /* ns: offsets at from_ns and at to_ns */
  double error, low, high;
  bool bounded;
};

static int by_place(const void *pa, const void *pb) {
  const struct standing *a = pa, *b = pb;
  if (a->root != b->root) return a->root < b->root ? -1 : 1;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return (a->host > b->host) - (a->host < b->host);
}

static double reading_at(const struct align_host *o, double part) {
  const struct curve *c = &o->map.curve;
  return c->n ? c->x[0] + (c->x[c->n - 1] - c->x[0]) * part : 0;
}

static double offset_at(const struct align_host *o, double part) {
  return (double)o->map.offset_ns + curve_at(&o->map.curve, reading_at(o, part));
}

/* True if the host's result is clean enough to conclude that it shares a clock. Little evidence is needed, because joining
 * moves nothing. */
static bool can_join(const struct align_problem *p, const struct align_solution *s, uint32_t h) {
  const struct align_host *o = &s->hosts[h];
  bool few = o->state == ALIGN_POOR && o->weight > 0.5 && o->mad_ns <= 4 * US && o->before == 0 && fabs(offset_at(o, 0.5)) < 6 * US;
  bool root = o->state == ALIGN_REFERENCE || o->state == ALIGN_ALONE;
  return !p->known[h] && (o->state == ALIGN_GOOD || o->state == ALIGN_APART || few || root);
}

/* True if noise alone explains the difference between the offsets of a and b, at the start and at the end, better than a second
 * clock that is this close by chance. `chance`: density of such clocks, per ns. */
static bool is_one(const struct align_solution *s, const struct standing *a, const struct standing *b, double chance) {
  double sd = hypot(hypot(a->error, b->error), 1.5 * US);
  for (int side = 0; side < 2; side++) {
    double d = offset_at(&s->hosts[a->host], side) - offset_at(&s->hosts[b->host], side);
    if (exp(-d * d / (2 * sd * sd)) / (2.5066 * sd) < chance) return false;
  }
  return true;
}

/* Estimates from how many clocks the clocks of n inputs were drawn, given that `found` of them are distinct: the solution `most` of
 * found = most * ln(1 + n / most), as in a Chinese restaurant process. If nearly every input has its own clock, the next input probably
 * has its own clock, too, however close the two are. */
static double clocks_behind(uint32_t found, uint32_t n) {
  double low = 1e-3, high = 1e6 * n;
  if (found >= n) return high;
  for (int i = 0; i < 100; i++) {
    double most = sqrt(low * high);
    if (most * log1p(n / most) < found) low = most;
    else high = most;
  }
  return low;
}

/* Computes for each host the density, per ns, of unrelated clocks at its offset, from the other clocks nearby. `more`: expected
 * number of clocks, divided by the number found. */
static void find_chances(const struct standing *v, uint32_t n, double more, double *chance) {
  const double far = 100 * US;
  for (uint32_t i = 0, from = 0, to = 0, found = 0; i < n; i++) {
    for (; to < n && v[to].root == v[i].root && v[to].at - v[i].at <= far; to++) found += v[to].leader == to;
    for (; v[from].root != v[i].root || v[i].at - v[from].at > far; from++) found -= v[from].leader == from;
    uint32_t others = found - (found > 0 && v[i].leader >= from);
    chance[i] = fmax(WALL / US, more * others / (2 * far));
  }
}

/* Finds hosts that share a clock. The more clocks there are, the more are close by chance, so the search is repeated with the
 * number of clocks that it found until this number no longer changes. */
static void find_leaders(const struct align_solution *s, struct standing *v, uint32_t n, double *chance) {
  enum { ROUNDS = 32 };
  uint32_t before = 0, found = 0;
  for (uint32_t i = 0; i < n; i++) chance[i] = WALL / US;
  for (int round = 0; round < ROUNDS; round++, before = found) {
    found = 0;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t leader = i ? v[i - 1].leader : 0;
      bool one = i && v[i].root == v[leader].root && is_one(s, &v[leader], &v[i], fmax(chance[i], chance[leader]));
      v[i].leader = one ? leader : i;
      found += !one;
    }
    if (found == before) return;
    find_chances(v, n, clocks_behind(found, n) / found, chance);
  }
  for (uint32_t i = 0; i < n; i++) v[i].leader = i; /* no stable result: nothing is joined */
}

/* Merges hosts that share a clock into the one with the lowest number, and renumbers the remaining hosts. */
static void merge_hosts(struct align_problem *p, struct align_solution *s, uint32_t *into) {
  uint32_t hosts = 0;
  for (uint32_t h = 0; h < p->n_hosts; h++) { /* the lowest of the merged hosts represents them */
    uint32_t first = into[h];
    if (first <= h) continue;
    if (into[first] == first) into[first] = h;
    into[h] = into[first];
  }
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    if (into[h] != h) {
      into[h] = into[into[h]];
      continue;
    }
    p->known[hosts] = p->known[h];
    s->hosts[hosts].assumed = s->hosts[h].assumed;
    into[h] = hosts++;
  }
  for (uint32_t i = 0; i < p->n_inputs; i++) p->host_of[i] = into[p->host_of[i]];
  p->reference = into[p->reference];
  p->n_hosts = hosts;
}

static bool join_hosts(struct align_problem *p, struct align_solution *s) {
  struct arena arena = {.mem = p->mem};
  struct standing *v = arena_alloc(&arena, ((size_t)p->n_hosts + 1) * sizeof *v);
  uint32_t *into = arena_alloc(&arena, ((size_t)p->n_hosts + 1) * sizeof *into), n = 0;
  double *chance = arena_alloc(&arena, ((size_t)p->n_hosts + 1) * sizeof *chance);
  bool any = false;
  if (!v || !into || !chance) {
    arena_free(&arena);
    return false;
  }
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    into[h] = h;
    if (can_join(p, s, h)) v[n++] = (struct standing){h, s->hosts[h].root, 0, offset_at(&s->hosts[h], 0.5), s->hosts[h].error_ns / 2};
  }
  if (n) qsort(v, n, sizeof *v, by_place);
  find_leaders(s, v, n, chance);
  for (uint32_t i = 0; i < n; i++) {
    into[v[i].host] = v[v[i].leader].host;
    any = any || v[i].leader != i;
  }
  if (any) merge_hosts(p, s, into);
  arena_free(&arena);
  return any;
}

/* ---- claims for joined inputs ---- */

static bool keep_claims(const struct align_problem *p, const struct align_solution *s, struct arena *arena, struct claims *out) {
  *out = (struct claims){.v = arena_alloc(arena, ((size_t)p->n_hosts + 1) * sizeof *out->v), .n = p->n_hosts};
  out->input = arena_alloc(arena, ((size_t)p->n_hosts + 1) * sizeof *out->input);
  if (!out->v || !out->input) return false;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    const struct align_host *o = &s->hosts[h];
    struct claim *c = &out->v[h];
    bool reference = o->state == ALIGN_REFERENCE;
    *c = (struct claim){.error = o->error_ns, .low = o->low_ns, .high = o->high_ns, .bounded = o->bounded || reference};
    if (reference) c->low = c->high = 0;
    c->from_ns = o->map.pivot_ns + llround(reading_at(o, 0));
    c->to_ns = o->map.pivot_ns + llround(reading_at(o, 1));
    for (int side = 0; side < 2; side++) c->offset[side] = offset_at(o, side);
    out->input[h] = ALIGN_NONE;
  }
  for (uint32_t i = p->n_inputs; i-- > 0;) out->input[p->host_of[i]] = i;
  return true;
}

static double offset_then(const struct align_map *m, int64_t reading) {
  return (double)m->offset_ns + curve_at(&m->curve, (double)(reading - m->pivot_ns));
}

/* Widens the errors of joined hosts, because a shared clock is only inferred: they must include the individual result of each
 * input, and only bounds that were proven before joining remain proven. */
static void widen_claims(const struct align_problem *p, struct align_solution *s, const struct claims *before) {
  for (uint32_t i = 0; i < before->n; i++) {
    const struct claim *c = &before->v[i];
    if (before->input[i] == ALIGN_NONE) continue;
    struct align_host *o = &s->hosts[p->host_of[before->input[i]]];
    bool reference = o->state == ALIGN_REFERENCE;
    if (!c->bounded) o->bounded = false;
    for (int side = 0; side < 2; side++) {
      double off = c->offset[side] - (reference ? 0 : offset_then(&o->map, side ? c->to_ns : c->from_ns)), was = o->error_ns;
      o->low_ns = fmin(o->low_ns, off + c->low);
      o->high_ns = fmax(o->high_ns, off + c->high);
      if (o->joined < 2) continue;
      o->error_ns = fmax(was, hypot(off, c->error));
      for (uint32_t k = 0; k < o->n_stretches; k++) o->stretches[k].error_ns = fmax(o->stretches[k].error_ns, hypot(off, c->error));
    }
  }
}

static void count_joined(const struct align_problem *p, struct align_solution *s, const struct claims *before) {
  for (uint32_t i = 0; i < before->n; i++)
    if (before->input[i] != ALIGN_NONE) s->hosts[p->host_of[before->input[i]]].joined++;
}

bool hosts_join(struct align_problem *p, struct align_solution *s, bool (*solve)(struct align_problem *, struct align_solution *)) {
  struct arena arena = {.mem = p->mem};
  struct claims before;
  bool ok = keep_claims(p, s, &arena, &before);
  if (ok && join_hosts(p, s)) {
    ok = solve(p, s);
    if (ok) count_joined(p, s, &before), widen_claims(p, s, &before);
  }
  arena_free(&arena);
  return ok;
}
