/* match.c - which anchors are one collective.
 *
 * By key: equal keys of different ranks.  By vote, where there are no keys or they lead nowhere: of all pairs of equal label the
 * difference of ends is taken; that which most pairs agree upon is the clocks' offset (as recordings of one song are put over each
 * other), whatever is missing on either side.  Hosts join one after the other: each votes against all that are in already. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"

/* ---- by key ---- */

static uint64_t key_of(const struct align_anchor *a, enum align_tier tier) {
  return tier == ALIGN_BY_SEQUENCE ? a->exact : a->counted;
}

static int by_sequence(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->exact != b->exact) return a->exact < b->exact ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

static int by_step(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->counted != b->counted) return a->counted < b->counted ? -1 : 1;
  return (a->input > b->input) - (a->input < b->input);
}

static void match_by_key(struct align_work *w, enum align_tier tier) {
  struct align_anchor *v = w->p->anchors->v;
  uint32_t n = w->p->anchors->n, match = 0;
  if (n) qsort(v, n, sizeof *v, tier == ALIGN_BY_SEQUENCE ? by_sequence : by_step);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t key = key_of(&v[i], tier);
    if (i == 0 || key != key_of(&v[i - 1], tier)) match++;
    v[i].match = key ? match : 0;
  }
}

/* ---- by vote ---- */

#define SECOND 1e9
#define WIDE 1e6    /* window of a vote in long traces, where clocks drift apart */
#define NARROW 5e4
#define TWIN 2e4    /* ends of one collective on the ranks of a host lie closer */
enum { VOTERS = 256, FEWEST = 5, SWEEPS = 3 };

/* A collective that is known already, on the reference's clock. */
struct known {
  uint64_t label;
  double t;
  uint32_t match;
};

struct voting {
  struct align_work *w;
  struct known *pool;
  uint32_t n_pool, last_match;
  double *differences;
  uint32_t cap_differences;
  double window;
  uint32_t *first; /* by host, and one more: its anchors */
};

static int by_label(const void *pa, const void *pb) {
  const struct known *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  return (a->t > b->t) - (a->t < b->t);
}

/* The first in the pool that is not before (label, t). */
static uint32_t pool_find(const struct voting *v, uint64_t label, double t) {
  struct known key = {label, t, 0};
  uint32_t lo = 0, hi = v->n_pool;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (by_label(&v->pool[mid], &key) < 0) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static double reading(const struct voting *v, const struct align_anchor *a) {
  return (double)(a->end - v->w->pivot[v->w->p->host_of[a->input]]);
}

/* What may have ended together; what has no label is none of that. */
static bool has_vote(const struct align_anchor *a) { return a->label && a->says & (ALIGN_EQUAL | ALIGN_VAGUE); }

/* Differences of every pair of equal labels, of some anchors only if there are many; n of them, UINT32_MAX without memory. */
static uint32_t all_differences(struct voting *v, uint32_t host) {
  const struct align_anchor *a = v->w->p->anchors->v;
  uint32_t from = v->first[host], to = v->first[host + 1], stride = (to - from) / VOTERS + 1, n = 0;
  for (uint32_t i = from, passed = 0; i < to; i++) {
    bool twin = i > from && a[i].label == a[i - 1].label && (double)(a[i].end - a[i - 1].end) < TWIN;
    if (!has_vote(&a[i]) || twin || passed++ % stride) continue;
    double t = reading(v, &a[i]);
    for (uint32_t k = pool_find(v, a[i].label, -INFINITY); k < v->n_pool && v->pool[k].label == a[i].label; k++) {
      if (!mem_grow(v->w->p->mem, (void **)&v->differences, &v->cap_differences, (uint64_t)n + 1, sizeof(double))) return UINT32_MAX;
      v->differences[n++] = t - v->pool[k].t;
    }
  }
  return n;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The fullest window of sorted d that is not near `not`; its middle value. */
static uint32_t fullest(const double *d, uint32_t n, double window, double not_near, double *middle) {
  uint32_t best = 0;
  for (uint32_t i = 0, k = 0; k < n; k++) {
    while (d[k] - d[i] > window) i++;
    if (k - i + 1 <= best || (fabs(d[i] - not_near) < 2 * window || fabs(d[k] - not_near) < 2 * window)) continue;
    best = k - i + 1;
    *middle = d[i + (k - i) / 2];
  }
  return best;
}

struct ballot {
  double offset;
  uint32_t votes, second;
};

static struct ballot vote(struct voting *v, uint32_t host) {
  struct ballot b = {0, 0, 0};
  uint32_t n = all_differences(v, host);
  double unused;
  if (n == UINT32_MAX || n == 0) return b;
  if (n) qsort(v->differences, n, sizeof(double), by_value);
  b.votes = fullest(v->differences, n, v->window, INFINITY, &b.offset);
  b.second = fullest(v->differences, n, v->window, b.offset, &unused);
  return b;
}

/* The nearest of the pool with this label within `reach`, or NULL. */
static const struct known *nearest(const struct voting *v, uint64_t label, double t, double reach) {
  uint32_t at = pool_find(v, label, t);
  const struct known *after = at < v->n_pool && v->pool[at].label == label ? &v->pool[at] : NULL;
  const struct known *before = at > 0 && v->pool[at - 1].label == label ? &v->pool[at - 1] : NULL;
  if (before && (!after || t - before->t < after->t - t)) after = before;
  return after && fabs(after->t - t) <= reach ? after : NULL;
}

/* A curve through all that lie near the offset, then through those that lie near that curve. */
static void follow(struct voting *v, uint32_t host, double offset) {
  struct curve *c = &v->w->curve[host];
  double reach = v->window;
  *c = (struct curve){.n = 1, .y = {offset}};
  for (int round = 0; round < 3; round++, reach = fmax(NARROW, reach / 4)) {
    uint32_t n = 0;
    for (uint32_t i = v->first[host]; i < v->first[host + 1]; i++) {
      double t = reading(v, &v->w->p->anchors->v[i]);
      if (!has_vote(&v->w->p->anchors->v[i])) continue;
      const struct known *k = nearest(v, v->w->p->anchors->v[i].label, align_true(v->w, host, t), reach);
      if (k) v->w->points[n++] = (struct point){t, t - k->t};
    }
    if (n) curve_fit(c, v->w->points, n, v->w->values);
  }
}

static void join_anchors(struct voting *v, uint32_t host) {
  uint32_t n = v->n_pool;
  for (uint32_t i = v->first[host]; i < v->first[host + 1]; i++) {
    struct align_anchor *a = &v->w->p->anchors->v[i];
    if (!has_vote(a)) continue;
    double t = align_true(v->w, host, reading(v, a));
    const struct known *k = nearest(v, a->label, t, NARROW);
    bool twin = n > v->n_pool && v->pool[n - 1].label == a->label && t - v->pool[n - 1].t < TWIN;
    if (!k && !twin) v->pool[n++] = (struct known){a->label, t, ++v->last_match};
    a->match = k ? k->match : v->pool[n - 1].match;
  }
  v->n_pool = n;
  if (v->n_pool) qsort(v->pool, v->n_pool, sizeof *v->pool, by_label);
}

/* Compares anchors by host, then by end. */
static int by_host_and_end(const void *pa, const void *pb, void *host_of) {
  const struct align_anchor *a = pa, *b = pb;
  uint32_t x = ((const uint32_t *)host_of)[a->input], y = ((const uint32_t *)host_of)[b->input];
  if (x != y) return x < y ? -1 : 1;
  if (a->label != b->label && a->end == b->end) return a->label < b->label ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->input > b->input) - (a->input < b->input);
}

static bool start_voting(struct voting *v) {
  struct align_work *w = v->w;
  struct align_anchors *a = w->p->anchors;
  double longest = 0;
  v->first = arena_alloc(&w->arena, ((size_t)w->p->n_hosts + 2) * sizeof *v->first);
  v->pool = arena_alloc(&w->arena, ((size_t)a->n + 1) * sizeof *v->pool);
  if (!v->first || !v->pool) return false;
  qsort_r(a->v, a->n, sizeof *a->v, by_host_and_end, w->p->host_of);
  for (uint32_t h = 0, i = 0; h <= w->p->n_hosts; h++) {
    v->first[h] = i;
    while (i < a->n && w->p->host_of[a->v[i].input] == h) i++;
    if (i > v->first[h]) longest = fmax(longest, (double)(a->v[i - 1].end - a->v[v->first[h]].end));
  }
  v->window = longest > 2 * SECOND ? WIDE : NARROW;
  return true;
}

static bool match_by_vote(struct align_work *w) {
  struct voting v = {.w = w};
  uint32_t n = w->p->n_hosts, pending = n - 1;
  if (!start_voting(&v)) return false;
  for (uint32_t i = 0; i < w->p->anchors->n; i++) w->p->anchors->v[i].match = 0;
  memset(w->clear, 0, n);
  w->curve[w->p->reference] = (struct curve){.n = 0};
  join_anchors(&v, w->p->reference);
  w->clear[w->p->reference] = 1;
  for (int sweep = 0; sweep < SWEEPS && pending; sweep++) {
    uint32_t before = pending;
    bool last = sweep == SWEEPS - 1;
    for (uint32_t h = 0; h < n; h++) {
      if (w->clear[h] || v.first[h] == v.first[h + 1]) continue;
      struct ballot b = vote(&v, h);
      bool won = b.votes >= FEWEST && b.votes >= 2 * b.second;
      if (!won && (!last || b.votes == 0)) continue;
      follow(&v, h, b.offset);
      join_anchors(&v, h);
      w->clear[h] = won;
      pending--;
    }
    if (pending == before && !last) sweep = SWEEPS - 2; /* nothing new: the last sweep takes what there is */
  }
  mem_free(w->p->mem, v.differences);
  return !w->p->mem->failed;
}

bool align_match(struct align_work *w, enum align_tier tier) {
  if (tier == ALIGN_BY_VOTE) return match_by_vote(w);
  memset(w->clear, 1, w->p->n_hosts);
  if (tier == ALIGN_BY_SEQUENCE && !align_executions(w)) return false;
  match_by_key(w, tier);
  return tier != ALIGN_BY_STEP || align_steps(w);
}
