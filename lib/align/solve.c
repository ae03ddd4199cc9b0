/* solve.c - solves for the clocks: the best way of matching, whom to trust, and who shares a clock (align.h). */
#include "align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define US 1e3
#define SAME_CLOCK (10 * US) /* ns: inputs that are closer have one clock, unless they are known to have two */

/* ---- whom to trust ---- */

/* What speaks against an estimate, or NULL. */
static const char *doubt(const struct align_work *w, const struct align_problem *p, enum align_tier tier, uint32_t h,
                         const struct align_host *o) {
  double error = o->anchors ? 1.4826 * o->mad_ns / sqrt(o->anchors) : 0;
  bool exact = tier == ALIGN_BY_SEQUENCE;
  double most = exact && !w->programs ? 100 * US : 30 * US;
  if (p->marker) return NULL;
  if (o->anchors < (exact ? 3 : 4)) return "too few collectives in common";
  if (!w->clear[h]) return "another way of matching its collectives fits nearly as well";
  if (o->mad_ns > most || error > 25 * US) return "its collectives end too far from those of the others";
  if (o->rejected * 3 > o->anchors) return "its collectives contradict each other";
  if (o->after * 10 > o->anchors) return "collectives would still end before they begin";
  return NULL;
}

/* Who took part is not known, but that they were in them at one time is. */
static void judge_vague(struct align_host *o) {
  bool denied = o->never_met * 2 > o->anchors;
  o->state = denied ? ALIGN_ROUGH : ALIGN_POOR;
  o->why = denied ? "its collectives do not say which devices took part, but by its wall clock they never met"
                  : "its collectives do not say which devices took part";
}

static void judge_hosts(const struct align_work *w, enum align_tier tier, struct align_solution *s) {
  const struct align_problem *p = w->p;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    struct align_host *o = &s->hosts[h];
    o->why = NULL;
    o->root = align_root(w, h);
    o->state = h == p->reference ? ALIGN_REFERENCE : w->parent[h] == h ? ALIGN_ALONE : ALIGN_GOOD;
    if (o->state != ALIGN_GOOD) continue;
    o->why = doubt(w, p, tier, h, o);
    if (o->why) o->state = ALIGN_POOR;
    else if (w->vague[h] && !p->marker) judge_vague(o);
    else if (o->root != p->reference) o->state = ALIGN_APART;
  }
  /* Who hangs on a host that cannot be trusted cannot be trusted: as deep as the tree is. */
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t h = 0; h < p->n_hosts; h++) {
      bool good = s->hosts[h].state == ALIGN_GOOD || s->hosts[h].state == ALIGN_APART;
      if (!good || s->hosts[w->parent[h]].state < ALIGN_ROUGH) continue;
      s->hosts[h].state = ALIGN_POOR;
      s->hosts[h].why = "it is tied to the others only by a host that cannot be trusted";
      changed = true;
    }
  }
}

/* ---- one way of matching ---- */

static uint32_t count_good(const struct align_problem *p, const struct align_solution *s) {
  uint32_t n = 0;
  for (uint32_t h = 0; h < p->n_hosts; h++) n += s->hosts[h].state == ALIGN_GOOD;
  return n;
}

static void keep_maps(const struct align_work *w, struct align_solution *s) {
  for (uint32_t h = 0; h < w->p->n_hosts; h++) {
    struct align_map *m = &s->hosts[h].map;
    m->pivot_ns = w->pivot[h];
    m->offset_ns = w->pivot[h] - w->pivot[w->p->reference];
    m->curve = w->curve[h];
  }
}

static bool solve_by(struct align_work *w, enum align_tier tier, struct align_solution *s) {
  memset(s->hosts, 0, s->cap * sizeof *s->hosts);
  s->tier = tier;
  if (!align_match(w, tier) || !align_members(w) || !align_fit_hosts(w) || !align_check(w, s)) return false;
  s->programs = w->programs;
  judge_hosts(w, tier, s);
  keep_maps(w, s);
  return true;
}

static uint32_t with_anchors(const struct align_problem *p, uint8_t *seen) {
  uint32_t n = 0;
  memset(seen, 0, p->n_hosts);
  for (uint32_t i = 0; i < p->anchors->n; i++) {
    uint32_t h = p->host_of[p->anchors->v[i].input];
    n += !seen[h];
    seen[h] = 1;
  }
  return n;
}

/* Hosts that can be trusted, then those that can against some others, then those that there is an estimate of at all. */
static uint64_t score(const struct align_problem *p, const struct align_solution *s) {
  uint64_t some = 0;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    enum align_state state = s->hosts[h].state;
    some += state == ALIGN_APART ? (uint64_t)p->n_hosts << 16 : state == ALIGN_ROUGH ? p->n_hosts : state == ALIGN_POOR;
  }
  return ((uint64_t)count_good(p, s) << 48) + some;
}

/* The first way that satisfies every host that has anchors, else the one that satisfies most. */
static bool solve_best(struct align_work *w, struct align_solution *s) {
  uint32_t wanted = with_anchors(w->p, w->clear);
  uint64_t most = 0;
  enum align_tier best = ALIGN_BY_SEQUENCE;
  for (enum align_tier tier = ALIGN_BY_SEQUENCE; tier <= ALIGN_BY_VOTE; tier++) {
    if (!solve_by(w, tier, s)) return false;
    if (score(w->p, s) > most || tier == ALIGN_BY_SEQUENCE) {
      most = score(w->p, s);
      best = tier;
    }
    if (count_good(w->p, s) + 1 >= wanted) return true;
  }
  return s->tier == best || solve_by(w, best, s);
}

/* ---- who shares a clock ---- */

static double between(const struct align_solution *s, uint32_t a, uint32_t b, double t) {
  const struct align_map *x = &s->hosts[a].map, *y = &s->hosts[b].map;
  double base = (double)(y->pivot_ns - x->pivot_ns);
  return (double)(x->offset_ns - y->offset_ns) + curve_at(&x->curve, t) - curve_at(&y->curve, t - base);
}

static bool same_clock(const struct align_solution *s, uint32_t a, uint32_t b) {
  const struct curve *c = &s->hosts[a].map.curve;
  double limit = fmax(SAME_CLOCK, 3 * fmax(s->hosts[a].mad_ns, s->hosts[b].mad_ns));
  double first = c->n ? c->x[0] : 0, last = c->n ? c->x[c->n - 1] : 0;
  return fabs(between(s, a, b, first)) <= limit && fabs(between(s, a, b, last)) <= limit;
}

/* To say that inputs share a clock as it is, little evidence is enough, if it is clean: nothing is moved for it. */
static bool can_join(const struct align_problem *p, const struct align_solution *s, uint32_t h) {
  const struct align_host *o = &s->hosts[h];
  bool clean = o->state == ALIGN_POOR && o->mad_ns <= SAME_CLOCK && o->after == 0 && o->before == 0;
  bool root = o->state == ALIGN_REFERENCE || (o->state == ALIGN_ALONE && o->anchors);
  return !p->known[h] && (o->state == ALIGN_GOOD || o->state == ALIGN_APART || root || clean);
}

/* Hosts that turn out to be one: their inputs become one host's.  True if there were any. */
static bool join_hosts(struct align_problem *p, const struct align_solution *s, uint32_t *into) {
  uint32_t n = 0;
  for (uint32_t h = 0; h < p->n_hosts; h++) {
    uint32_t first = h;
    for (uint32_t g = 0; g < h && first == h && can_join(p, s, h); g++)
      if (can_join(p, s, g) && s->hosts[g].root == s->hosts[h].root && same_clock(s, g, h)) first = g;
    into[h] = first == h ? n : into[first];
    if (first != h) continue;
    p->known[n++] = p->known[h];
  }
  if (n == p->n_hosts) return false;
  for (uint32_t i = 0; i < p->n_inputs; i++) p->host_of[i] = into[p->host_of[i]];
  p->reference = into[p->reference];
  p->n_hosts = n;
  return true;
}

/* ---- all ---- */

static bool prepare_anchors(struct align_work *w) {
  struct align_problem *p = w->p;
  size_t hosts = (size_t)p->n_hosts + 2, anchors = (size_t)p->anchors->n + 2;
  w->pivot = arena_alloc(&w->arena, hosts * sizeof *w->pivot);
  w->curve = arena_alloc(&w->arena, hosts * sizeof *w->curve);
  w->clear = arena_alloc(&w->arena, hosts);
  w->vague = arena_alloc(&w->arena, hosts);
  w->parent = arena_alloc(&w->arena, hosts * sizeof *w->parent);
  w->members = arena_alloc(&w->arena, anchors * sizeof *w->members);
  w->first = arena_alloc(&w->arena, anchors * sizeof *w->first);
  w->by_host = arena_alloc(&w->arena, anchors * sizeof *w->by_host);
  w->host_first = arena_alloc(&w->arena, hosts * sizeof *w->host_first);
  w->points = arena_alloc(&w->arena, anchors * sizeof *w->points);
  w->values = arena_alloc(&w->arena, 2 * anchors * sizeof *w->values);
  if (p->mem->failed) return false;
  for (uint32_t h = 0; h < p->n_hosts; h++) w->pivot[h] = p->anchors->n ? p->anchors->v[0].end : 0;
  for (uint32_t i = p->anchors->n; i-- > 0;) w->pivot[p->host_of[p->anchors->v[i].input]] = p->anchors->v[i].end;
  return true;
}

static bool solve_hosts(struct align_problem *p, struct align_solution *s) {
  struct align_work w = {.p = p, .arena = {.mem = p->mem}};
  bool ok = prepare_anchors(&w) && solve_best(&w, s);
  arena_free(&w.arena);
  return ok;
}

bool align_solve(struct align_problem *p, struct align_solution *s, struct tk_err *err) {
  *s = (struct align_solution){.mem = p->mem, .cap = p->n_hosts};
  s->hosts = mem_array(p->mem, (uint64_t)p->n_hosts + 1, sizeof *s->hosts);
  uint32_t *into = mem_array(p->mem, (uint64_t)p->n_hosts + 1, sizeof *into);
  /* A marker is to be put upon the others, however near it is. */
  if (s->hosts && into && solve_hosts(p, s) && !p->marker && join_hosts(p, s, into)) solve_hosts(p, s);
  mem_free(p->mem, into);
  return mem_check(p->mem, err);
}

void align_solution_free(struct align_solution *s) {
  mem_free(s->mem, s->hosts);
  *s = (struct align_solution){0};
}
