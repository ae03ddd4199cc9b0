/* piles.c - see piles.h.
 *
 *     file order  --scatter-->  front: the largest pile of each group, at the group's final position; aside: all others
 *                 --merge-->    from front and aside to the group's end, latest element first
 *
 * Merging never overwrites unread elements of the pile at the front: there are always at least as many elements left to write
 * as there are unread elements at the front. Pages of the source are released during scattering, and pages of `aside` after
 * each group, so the peak memory is one array plus `aside`.
 *
 * A group of more than 64 piles (spans written when they end, deeply nested; a shuffled file) is a crowd: it is scattered into
 * buckets of time, each of which is sorted in the cache. */
#include "piles.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned char byte;

enum { STRETCH = 1 << 14 }; /* elements between two releases of source pages */

bool piles_init(struct piles *p, struct mem *mem, uint32_t n_groups, uint32_t n) {
  *p = (struct piles){.mem = mem, .n_groups = n_groups};
  p->groups = mem_zeros(mem, n_groups, sizeof *p->groups);
  p->of = mem_array(mem, (uint64_t)n + 1, 1);
  if (!p->groups || !p->of || !mem_grow(mem, (void **)&p->pool, &p->cap_pool, 1, sizeof *p->pool)) return false;
  memset(p->of, PILE_NONE, (size_t)n + 1);
  return true;
}

void piles_free(struct piles *p) {
  mem_free(p->mem, p->groups);
  mem_free(p->mem, p->pool);
  mem_free(p->mem, p->of);
  *p = (struct piles){.mem = p->mem};
}

/* Adds a pile to the group. If the group's array is full, the group moves to a new array four times as large. */
static struct pile *add_pile(struct piles *p, struct pile_group *g) {
  if (g->n_piles == g->cap) {
    const uint8_t cap = g->cap ? (uint8_t)(g->cap * 4) : 1;
    if (!mem_grow(p->mem, (void **)&p->pool, &p->cap_pool, (uint64_t)p->n_pool + cap, sizeof *p->pool)) return NULL;
    memcpy(&p->pool[p->n_pool], &p->pool[g->piles], g->n_piles * sizeof *p->pool);
    g->piles = p->n_pool;
    g->cap = cap;
    p->n_pool += cap;
  }
  struct pile *pile = &p->pool[g->piles + g->n_piles++];
  *pile = (struct pile){0};
  return pile;
}

/* Returns the index of the first pile whose top is not later than ts, or n. */
static unsigned find_pile(const struct pile *piles, unsigned n, tk_time ts) {
  enum { FEW = 6 };
  unsigned lo = 0;
  for (; lo < n && lo < FEW; lo++)
    if (piles[lo].top <= ts) return lo;
  for (unsigned hi = n; lo < hi;) {
    const unsigned mid = (lo + hi) / 2;
    if (piles[mid].top <= ts) hi = mid;
    else lo = mid + 1;
  }
  return lo;
}

void piles_put_below(struct piles *p, uint32_t i, struct pile_group *g, tk_time ts) {
  const unsigned at = find_pile(&p->pool[g->piles], g->n_piles, ts);
  p->of[i] = PILE_MANY;
  g->many |= at == PILES_MOST;
  if (g->many) return;
  struct pile *pile = at < g->n_piles ? &p->pool[g->piles + at] : add_pile(p, g);
  if (!pile) return;
  pile->top = ts;
  pile->n++;
  p->of[i] = (uint8_t)at;
}

static tk_time time_of(const byte *elem) {
  tk_time ts;
  memcpy(&ts, elem, sizeof ts);
  return ts;
}

static uint32_t group_of(const struct piles *p, const struct pile_array *a, const byte *elem) {
  uint32_t group = 0;
  if (p->n_groups > 1) memcpy(&group, elem + a->group_at, sizeof group);
  return group;
}

/* ---- crowds ---- */

/* Elements with times in [min + (i << shift), min + ((i+1) << shift)) go into bucket i, which ends at ends[i] and is filled
 * downwards. */
struct crowd {
  tk_time min, max;
  uint32_t *ends;
  uint32_t n; /* number of buckets */
  unsigned shift;
};

static uint32_t bucket_of(const struct crowd *c, tk_time ts) { return (uint32_t)(((uint64_t)ts - (uint64_t)c->min) >> c->shift); }

static bool make_buckets(struct piles *p, struct crowd *c, uint32_t n) {
  enum { BUCKET = 4096 }; /* elements of a bucket: 128 KB, and 128 KB of keys */
  const uint64_t range = (uint64_t)c->max - (uint64_t)c->min;
  while (c->shift < 63 && range >> c->shift > n / BUCKET) c->shift++;
  c->n = bucket_of(c, c->max) + 1;
  c->ends = mem_zeros(p->mem, c->n, sizeof *c->ends);
  return c->ends != NULL;
}

/* Calls `visit` for each element of a crowd. */
static void each_in_crowd(const struct piles *p, const struct pile_array *a, struct crowd *crowds,
                          void (*visit)(struct crowd *c, tk_time ts)) {
  for (uint32_t i = 1; i <= a->n; i++) {
    const byte *elem = (const byte *)a->items + (size_t)i * PILE_ELEM;
    const struct pile_group *g = p->of[i] == PILE_NONE ? NULL : &p->groups[group_of(p, a, elem)];
    if (g && g->many) visit(&crowds[g->crowd], time_of(elem));
  }
}

static void widen(struct crowd *c, tk_time ts) {
  if (ts < c->min) c->min = ts;
  if (ts > c->max) c->max = ts;
}

static void count(struct crowd *c, tk_time ts) { c->ends[bucket_of(c, ts)]++; }

static uint32_t number_crowds(struct piles *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_groups; i++)
    if (p->groups[i].many) p->groups[i].crowd = n++;
  return n;
}

/* Returns the crowds, one for each group with too many piles; NULL when memory runs out. */
static struct crowd *find_crowds(struct piles *p, const struct pile_array *a, uint32_t n) {
  struct crowd *crowds = mem_array(p->mem, n, sizeof *crowds);
  bool ok = crowds != NULL;
  for (uint32_t i = 0; ok && i < n; i++) crowds[i] = (struct crowd){.min = INT64_MAX, .max = INT64_MIN};
  if (ok) each_in_crowd(p, a, crowds, widen);
  for (uint32_t i = 0; i < p->n_groups; i++)
    if (ok && p->groups[i].many) ok = make_buckets(p, &crowds[p->groups[i].crowd], p->groups[i].n);
  if (ok) each_in_crowd(p, a, crowds, count);
  return ok ? crowds : NULL;
}

static void free_crowds(struct piles *p, struct crowd *crowds, uint32_t n) {
  for (uint32_t i = 0; crowds && i < n; i++) mem_free(p->mem, crowds[i].ends);
  mem_free(p->mem, crowds);
}

static void place_buckets(struct crowd *c, uint32_t front) {
  for (uint32_t i = 0; i < c->n; i++) {
    const uint32_t n = c->ends[i];
    c->ends[i] = front;
    front += n;
  }
}

static bool sort_bucket(struct piles *p, byte *items, uint32_t *was, uint32_t n) {
  struct keyed *v = mem_array(p->mem, n, sizeof *v), *spare = mem_array(p->mem, n, sizeof *spare);
  const bool ok = v && spare;
  for (uint32_t i = 0; ok && i < n; i++) v[i] = (struct keyed){time_of(items + (size_t)i * PILE_ELEM), i};
  if (ok) piles_permute(items, was, keyed_sort(v, spare, n), n);
  mem_free(p->mem, v);
  mem_free(p->mem, spare);
  return ok;
}

static bool sort_crowd(struct piles *p, const struct crowd *c, uint32_t first, byte *items, uint32_t *was) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < c->n; first = c->ends[i++])
    if (c->ends[i] - first > 1)
      ok = sort_bucket(p, items + (size_t)first * PILE_ELEM, was ? was + first : NULL, c->ends[i] - first);
  return ok;
}

/* ---- scatter ---- */

/* Assigns final or temporary positions to all piles. Returns the number of elements that go to `aside`. */
static uint32_t give_places(struct piles *p, struct crowd *crowds) {
  uint32_t front = 1, aside = 0;
  for (struct pile_group *g = p->groups; g < p->groups + p->n_groups; g++) {
    struct pile *piles = &p->pool[g->piles];
    for (uint8_t i = 1; i < g->n_piles; i++)
      if (piles[i].n > piles[g->largest].n) g->largest = i;
    for (uint8_t i = 0; i < g->n_piles && !g->many; i++) {
      uint32_t *at = i == g->largest ? &front : &aside;
      piles[i].at = *at;
      *at += piles[i].n;
    }
    if (g->many) place_buckets(&crowds[g->crowd], front);
    front += g->many ? g->n : g->n - (g->n_piles ? piles[g->largest].n : 0);
  }
  return aside;
}

struct settling {
  struct piles *p;
  struct pile_array *a;
  struct crowd *crowds;
  byte *to, *aside;
  uint32_t *aside_was;
};

static void move(struct settling *s, bool front, uint32_t at, const byte *elem, uint32_t i) {
  memmove((front ? s->to : s->aside) + (size_t)at * PILE_ELEM, elem, PILE_ELEM);
  if (s->a->was) (front ? s->a->was : s->aside_was)[at] = i;
}

static void scatter(struct settling *s) {
  struct piles *p = s->p;
  byte *from = s->a->items;
  for (uint32_t i = 1; i <= s->a->n; i++) {
    const byte *elem = from + (size_t)i * PILE_ELEM;
    if (!s->a->grouped && i % STRETCH == 0) mem_forget(from + (size_t)(i - STRETCH) * PILE_ELEM, (size_t)STRETCH * PILE_ELEM);
    if (p->of[i] == PILE_NONE) continue;
    const struct pile_group *g = &p->groups[group_of(p, s->a, elem)];
    struct crowd *crowd = g->many ? &s->crowds[g->crowd] : NULL;
    uint32_t *at = crowd ? &crowd->ends[bucket_of(crowd, time_of(elem))] : &p->pool[g->piles + p->of[i]].at;
    move(s, crowd || p->of[i] == g->largest, (*at)++, elem, i);
  }
}

/* ---- merge ---- */

/* Unmerged elements of a pile; the last one is the latest. */
struct rest {
  tk_time ts;
  const byte *last;
  const uint32_t *was;
  uint32_t n;
  uint8_t pile;
};

static bool is_later(const struct rest *a, const struct rest *b) { return a->ts != b->ts ? a->ts > b->ts : a->pile > b->pile; }

/* Moves rests[n-1] to its sorted position; rests[0..n-1) are sorted already. */
static void sift(struct rest *rests, unsigned n) {
  const struct rest moved = rests[n - 1];
  unsigned at = n - 1;
  for (; at > 0 && is_later(&rests[at - 1], &moved); at--) rests[at] = rests[at - 1];
  rests[at] = moved;
}

static unsigned list_rests(const struct settling *s, const struct pile_group *g, struct rest *rests) {
  const struct pile *piles = &s->p->pool[g->piles];
  unsigned n = 0;
  for (uint8_t i = 0; i < g->n_piles; i++) {
    const bool front = i == g->largest;
    const uint32_t last = piles[i].at - 1; /* scattering has left `at` after the last element */
    const uint32_t *was = front ? s->a->was : s->aside_was;
    rests[n++] = (struct rest){piles[i].top, (front ? s->to : s->aside) + (size_t)last * PILE_ELEM, was ? was + last : NULL,
                               piles[i].n, i};
    sift(rests, n);
  }
  return n;
}

/* Merges the piles of a group. `end`: position after the group's last element. */
static void merge(const struct settling *s, const struct pile_group *g, uint32_t end) {
  struct rest rests[PILES_MOST];
  unsigned n = list_rests(s, g, rests);
  byte *to = s->to + (size_t)end * PILE_ELEM;
  uint32_t *was = s->a->was ? s->a->was + end : NULL;
  while (n > 0) {
    struct rest *r = &rests[n - 1];
    if (n == 1 && r->last + PILE_ELEM == to) return; /* the remaining elements are in place already */
    do {
      memmove(to -= PILE_ELEM, r->last, PILE_ELEM);
      if (was) *--was = *r->was--;
      if (--r->n == 0) break;
      r->last -= PILE_ELEM;
      r->ts = time_of(r->last);
    } while (n == 1 || is_later(r, r - 1));
    if (r->n == 0) n--;
    else sift(rests, n);
  }
}

static bool merge_all(const struct settling *s) {
  struct piles *p = s->p;
  uint32_t first = 1, aside = 0, forgotten = 0;
  for (struct pile_group *g = p->groups; g < p->groups + p->n_groups; first += g++->n) {
    if (g->many && !sort_crowd(p, &s->crowds[g->crowd], first, s->to, s->a->was)) return false;
    if (g->many || g->n_piles < 2) continue;
    aside += g->n - p->pool[g->piles + g->largest].n;
    merge(s, g, first + g->n);
    if (aside - forgotten < STRETCH) continue;
    mem_forget(s->aside + (size_t)forgotten * PILE_ELEM, (size_t)(aside - forgotten) * PILE_ELEM);
    forgotten = aside;
  }
  return true;
}

/* Allocates the arrays that elements move to. A crowd is scattered, so its elements cannot stay in place. */
static bool make_room(struct settling *s, uint32_t aside, bool in_place, uint32_t *cap) {
  struct mem *m = s->p->mem;
  void *to = in_place ? s->a->items : NULL;
  bool (*grow)(struct mem *, void **, uint32_t *, uint64_t, size_t) = s->a->grouped ? mem_grow_now : mem_grow_moving;
  if (!in_place && !grow(m, &to, cap, (uint64_t)s->a->n + 1, PILE_ELEM)) return false;
  s->to = to;
  if (!in_place) memset(s->to, 0, PILE_ELEM);
  void *beside = NULL;
  uint32_t room = 0;
  if (aside && !grow(m, &beside, &room, aside, PILE_ELEM)) return false;
  s->aside = beside;
  s->aside_was = aside && s->a->was ? mem_array(m, aside, sizeof *s->aside_was) : NULL;
  return !m->failed;
}

/* Hands the result to the caller. An array whose elements came group by group keeps its memory, so the result is copied back into
 * it; any other array is replaced with the result. */
static void take_over(struct settling *s, uint32_t cap) {
  struct pile_array *a = s->a;
  if (a->grouped) {
    memcpy(a->items, s->to, ((size_t)a->n + 1) * PILE_ELEM);
    mem_free(s->p->mem, s->to);
  } else {
    mem_free(s->p->mem, a->items);
    a->items = s->to;
    a->cap = cap;
  }
}

bool piles_settle(struct piles *p, struct pile_array *a) {
  struct settling s = {.p = p, .a = a};
  const uint32_t n_crowds = number_crowds(p);
  const bool in_place = a->grouped && !n_crowds;
  uint32_t aside = 0, cap = 0;
  bool ok = !p->mem->failed && (!n_crowds || (s.crowds = find_crowds(p, a, n_crowds)));
  for (uint32_t i = 1; ok && a->was && i <= a->n; i++) a->was[i] = i;
  if (ok) aside = give_places(p, s.crowds);
  if (ok && in_place && !aside) return true;
  ok = ok && make_room(&s, aside, in_place, &cap);
  if (ok) scatter(&s);
  ok = ok && merge_all(&s);
  if (s.to && !in_place) take_over(&s, cap);
  mem_free(p->mem, s.aside);
  mem_free(p->mem, s.aside_was);
  free_crowds(p, s.crowds, n_crowds);
  return ok;
}

/* Follows the cycles of the permutation in place, because a second array of elements would dominate the peak memory of
 * reading. */
void piles_permute(void *items, uint32_t *was, struct keyed *v, uint32_t n) {
  byte *e = items, held[PILE_ELEM];
  for (uint32_t i = 0; i < n; i++) {
    uint32_t to = i;
    if (v[i].index == i) continue;
    const uint32_t held_was = was ? was[i] : 0;
    memcpy(held, e + (size_t)i * PILE_ELEM, PILE_ELEM);
    for (uint32_t next; (next = v[to].index) != i; to = next) {
      memcpy(e + (size_t)to * PILE_ELEM, e + (size_t)next * PILE_ELEM, PILE_ELEM);
      if (was) was[to] = was[next];
      v[to].index = to;
    }
    memcpy(e + (size_t)to * PILE_ELEM, held, PILE_ELEM);
    if (was) was[to] = held_was;
    v[to].index = to;
  }
}
