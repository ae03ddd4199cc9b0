/* fit.c - from matched anchors to a curve for each host.
 *
 * Hosts and collectives are a graph.  A spanning tree from the reference, along the pairs of hosts that share most collectives,
 * gives each host a first curve against its parent; so hosts that only a chain of pipeline groups ties to the reference come out
 * right.  Then all are fitted again, a few times, each against the median of all the other hosts of its collectives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"

enum { ROUNDS = 10, NONE = UINT32_MAX, ENOUGH = 3 };

/* ---- members ---- */

static int by_match(const void *pa, const void *pb, void *host_of) {
  const struct align_anchor *a = pa, *b = pb;
  uint32_t x = ((const uint32_t *)host_of)[a->input], y = ((const uint32_t *)host_of)[b->input];
  if (a->match != b->match) return a->match < b->match ? -1 : 1;
  if (x != y) return x < y ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

static bool same_rank(const struct align_anchor *a, const struct align_anchor *b) {
  return a->input == b->input && a->device == b->device;
}

/* One member of the anchors [from, to), which are one collective on one host.  A rank that claims it twice says nothing. */
static void add_member(struct align_work *w, const struct align_anchor *a, uint32_t from, uint32_t to) {
  uint32_t host = w->p->host_of[a[from].input], n = 0;
  struct align_member m = {.host = host, .collective = w->n_collectives, .equal = true, .vague = true};
  m.last_start = m.last_sent = -INFINITY;
  m.first_end = m.first_received = INFINITY;
  for (uint32_t i = from; i < to; i++) {
    bool twice = (i > from && same_rank(&a[i - 1], &a[i])) || (i + 1 < to && same_rank(&a[i + 1], &a[i]));
    double start = (double)(a[i].start - w->pivot[host]), end = (double)(a[i].end - w->pivot[host]);
    if (twice) continue;
    w->values[n++] = end;
    m.last_start = fmax(m.last_start, start);
    m.first_end = fmin(m.first_end, end);
    if (a[i].says & ALIGN_SENDS) m.last_sent = fmax(m.last_sent, start);
    if (a[i].says & ALIGN_RECEIVES) m.first_received = fmin(m.first_received, end);
    m.equal = m.equal && a[i].says & ALIGN_EQUAL;
    m.vague = m.vague && a[i].says & (ALIGN_EQUAL | ALIGN_VAGUE);
  }
  if (n == 0) return;
  m.ranks = n;
  m.end = point_median(w->values, n);
  w->members[w->n_members++] = m;
}

/* The first of a host's ranks to leave is a sharper mark than the middle one, for delays only go one way; but the more ranks, the
 * earlier is the first: it is taken where all hosts have as many. */
static void take_first_ends(struct align_work *w, uint32_t first) {
  for (uint32_t i = first; i < w->n_members; i++)
    if (w->members[i].ranks != w->members[first].ranks) return;
  for (uint32_t i = first; i < w->n_members; i++) w->members[i].end = w->members[i].first_end;
}

static void add_collective(struct align_work *w, const struct align_anchor *a, uint32_t from, uint32_t to) {
  uint32_t first = w->n_members;
  for (uint32_t i = from, n; i < to; i += n) {
    for (n = 1; i + n < to && w->p->host_of[a[i + n].input] == w->p->host_of[a[i].input];) n++;
    add_member(w, a, i, i + n);
  }
  if (w->n_members - first < 2) {
    w->n_members = first;
    return;
  }
  w->first[w->n_collectives++] = first;
  take_first_ends(w, first);
}

static void list_by_host(struct align_work *w) {
  uint32_t *at = w->host_first + 1;
  memset(w->host_first, 0, ((size_t)w->p->n_hosts + 2) * sizeof *w->host_first);
  for (uint32_t i = 0; i < w->n_members; i++) at[w->members[i].host + 1]++;
  for (uint32_t h = 0; h < w->p->n_hosts; h++) at[h + 1] += at[h];
  for (uint32_t i = 0; i < w->n_members; i++) w->by_host[at[w->members[i].host]++] = i;
}

bool align_members(struct align_work *w) {
  const struct align_anchor *a = w->p->anchors->v;
  uint32_t n = w->p->anchors->n;
  if (n) qsort_r(w->p->anchors->v, n, sizeof *a, by_match, w->p->host_of);
  w->n_members = w->n_collectives = 0;
  for (uint32_t i = 0, k; i < n; i += k) {
    for (k = 1; i + k < n && a[i + k].match == a[i].match;) k++;
    if (a[i].match) add_collective(w, a, i, i + k);
  }
  w->first[w->n_collectives] = w->n_members;
  list_by_host(w);
  return true;
}

/* ---- what counts ---- */

/* What is vague is taken where a host has nothing better. */
static void choose_members(struct align_work *w) {
  for (uint32_t h = 0; h < w->p->n_hosts; h++) {
    uint32_t equal = 0;
    for (uint32_t i = w->host_first[h]; i < w->host_first[h + 1]; i++) equal += w->members[w->by_host[i]].equal;
    w->vague[h] = equal < ENOUGH;
    for (uint32_t i = w->host_first[h]; i < w->host_first[h + 1]; i++) {
      struct align_member *m = &w->members[w->by_host[i]];
      m->used = m->equal || (m->vague && w->vague[h]);
    }
  }
}

/* ---- the tree ---- */

static bool count_pairs(const struct align_work *w, uint32_t *pairs) {
  uint32_t n = w->p->n_hosts;
  memset(pairs, 0, (size_t)n * n * sizeof *pairs);
  for (uint32_t i = 0; i < w->n_collectives; i++)
    for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
      for (uint32_t l = w->first[i]; w->members[k].used && l < w->first[i + 1]; l++)
        if (l != k) pairs[(size_t)w->members[k].host * n + w->members[l].host]++;
  return true;
}

/* The curve of a host against another one that has its own. */
static void fit_against(struct align_work *w, uint32_t host, uint32_t parent) {
  uint32_t n = 0;
  for (uint32_t i = w->host_first[host]; i < w->host_first[host + 1]; i++) {
    const struct align_member *m = &w->members[w->by_host[i]];
    if (!m->used) continue;
    for (uint32_t k = w->first[m->collective]; k < w->first[m->collective + 1]; k++) {
      const struct align_member *o = &w->members[k];
      if (o->host == parent) w->points[n++] = (struct point){m->end, m->end - align_true(w, parent, o->end)};
    }
  }
  curve_fit(&w->curve[host], w->points, n, w->values);
}

/* What the wall clock says: no offset, between pivots. */
static struct curve wall_clock(const struct align_work *w, uint32_t host) {
  return (struct curve){.n = 1, .y = {(double)(w->pivot[w->p->reference] - w->pivot[host])}};
}

/* Prim's tree by shared collectives; each part without a tie to the reference has a root of its own, on the wall clock. */
static void grow_tree(struct align_work *w, const uint32_t *pairs, uint32_t *best) {
  uint32_t n = w->p->n_hosts, root = w->p->reference;
  bool *in = (bool *)(best + n);
  memset(best, 0, n * sizeof *best);
  memset(in, 0, n);
  for (uint32_t h = 0; h < n; h++) w->parent[h] = NONE;
  for (uint32_t done = 0, next = root; done < n; done++) {
    if (w->parent[next] == NONE) {
      w->parent[next] = next;
      w->curve[next] = wall_clock(w, next);
    } else {
      fit_against(w, next, w->parent[next]);
    }
    in[next] = true;
    for (uint32_t h = 0; h < n; h++) {
      uint32_t shared = pairs[(size_t)next * n + h];
      if (in[h] || shared <= best[h]) continue;
      best[h] = shared;
      w->parent[h] = next;
    }
    uint32_t found = NONE;
    for (uint32_t h = 0; h < n; h++)
      if (!in[h] && (found == NONE || best[h] > best[found])) found = h;
    next = found;
  }
}

/* ---- all against all ---- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of sorted v[0..n) without the one at `at`. */
static double median_without(const double *v, uint32_t n, uint32_t at) {
  uint32_t lo = (n - 2) / 2, hi = (n - 1) / 2;
  return (v[lo + (lo >= at)] + v[hi + (hi >= at)]) / 2;
}

static void ask_others(struct align_work *w, uint32_t collective) {
  struct align_member *m = &w->members[w->first[collective]];
  uint32_t n = w->first[collective + 1] - w->first[collective];
  double *sorted = w->values;
  for (uint32_t i = 0; i < n; i++) sorted[i] = align_true(w, m[i].host, m[i].end);
  if (n) qsort(sorted, n, sizeof *sorted, by_value);
  for (uint32_t i = 0; i < n; i++) {
    double own = align_true(w, m[i].host, m[i].end);
    uint32_t at = 0;
    while (at + 1 < n && sorted[at] < own) at++;
    m[i].others = median_without(sorted, n, at);
  }
}

static void fit_again(struct align_work *w, uint32_t host) {
  uint32_t n = 0;
  for (uint32_t i = w->host_first[host]; i < w->host_first[host + 1]; i++) {
    const struct align_member *m = &w->members[w->by_host[i]];
    if (m->used) w->points[n++] = (struct point){m->end, m->end - m->others};
  }
  if (n) curve_fit(&w->curve[host], w->points, n, w->values);
}

/* Noise of ends is lopsided, so every host settles a little beside the median of the others, all by as much.  A root's clock does not
 * move: instead all that hang on it do, until it stands beside them as they beside each other. */
static void hold_root(struct align_work *w, uint32_t root) {
  struct curve c;
  uint32_t n = 0;
  for (uint32_t i = w->host_first[root]; i < w->host_first[root + 1]; i++) {
    const struct align_member *m = &w->members[w->by_host[i]];
    if (m->used) w->points[n++] = (struct point){m->end, align_true(w, root, m->end) - m->others};
  }
  if (n == 0) return;
  curve_fit(&c, w->points, n, w->values);
  double by = curve_at(&c, w->points[n / 2].x);
  for (uint32_t h = 0; h < w->p->n_hosts; h++)
    for (uint32_t i = 0; h != root && align_root(w, h) == root && i < w->curve[h].n; i++) w->curve[h].y[i] -= by;
}

static void fit_all_again(struct align_work *w) {
  for (uint32_t h = 0; h < w->p->n_hosts; h++)
    if (w->parent[h] != h) fit_again(w, h);
  for (uint32_t i = 0; i < w->n_collectives; i++) ask_others(w, i);
  for (uint32_t h = 0; h < w->p->n_hosts; h++)
    if (w->parent[h] == h) hold_root(w, h);
}

bool align_fit_hosts(struct align_work *w) {
  uint32_t n = w->p->n_hosts;
  uint32_t *pairs = arena_alloc(&w->arena, (size_t)n * n * sizeof *pairs);
  uint32_t *best = arena_alloc(&w->arena, (size_t)n * (sizeof *best + 1));
  if (!pairs || !best) return false;
  choose_members(w);
  count_pairs(w, pairs);
  grow_tree(w, pairs, best);
  for (int round = 0; round <= ROUNDS; round++) {
    for (uint32_t i = 0; i < w->n_collectives; i++) ask_others(w, i);
    if (round < ROUNDS) fit_all_again(w);
  }
  return true;
}
