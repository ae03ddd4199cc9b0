/* piles.c - see piles.h.
 *
 *     file order  --scatter-->  each group at its final position: its largest pile, then the others (bins.h)
 *                 --merge---->  all piles but the largest are copied aside, and merged to the group's end, latest element first
 *
 * Merging never overwrites unread elements of the largest pile: there are always at least as many elements left to write as there are
 * unread elements in it.
 *
 * A group of more than 64 piles (spans written when they end, deeply nested; a shuffled file) is a crowd: it is scattered into
 * buckets of time, each of which is sorted in the cache. */
#include "piles.h"

#include <string.h>

#include "bins.h"

typedef unsigned char byte;

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

/* Elements with times in [min + (i << shift), min + ((i+1) << shift)) go into bucket i. */
struct crowd {
  tk_time min, max;
  uint32_t *sizes;
  uint32_t n; /* number of buckets */
  unsigned shift;
};

static uint32_t bucket_of(const struct crowd *c, tk_time ts) { return (uint32_t)(((uint64_t)ts - (uint64_t)c->min) >> c->shift); }

static bool make_buckets(struct piles *p, struct crowd *c, uint32_t n) {
  enum { BUCKET = 4096 }; /* elements of a bucket: 128 KB, and 128 KB of keys */
  const uint64_t range = (uint64_t)c->max - (uint64_t)c->min;
  while (c->shift < 63 && range >> c->shift > n / BUCKET) c->shift++;
  c->n = bucket_of(c, c->max) + 1;
  c->sizes = mem_zeros(p->mem, c->n, sizeof *c->sizes);
  return c->sizes != NULL;
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

static void count(struct crowd *c, tk_time ts) { c->sizes[bucket_of(c, ts)]++; }

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
  for (uint32_t i = 0; crowds && i < n; i++) mem_free(p->mem, crowds[i].sizes);
  mem_free(p->mem, crowds);
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

/* Sorts the buckets of the crowd at position `first`. */
static bool sort_crowd(struct piles *p, const struct pile_array *a, const struct crowd *c, uint32_t first) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < c->n; first += c->sizes[i++])
    if (c->sizes[i] > 1) ok = sort_bucket(p, (byte *)a->items + (size_t)first * PILE_ELEM, a->was ? a->was + first : NULL, c->sizes[i]);
  return ok;
}

/* ---- scatter ---- */

struct settling {
  struct piles *p;
  const struct pile_array *a;
  struct crowd *crowds;
  struct bins bins;
  byte *aside;
  uint32_t *aside_was;
};

static void find_largest(const struct piles *p, struct pile_group *g) {
  const struct pile *piles = &p->pool[g->piles];
  for (uint8_t i = 1; i < g->n_piles; i++)
    if (piles[i].n > piles[g->largest].n) g->largest = i;
}

/* Lists the bins of a group: its buckets of time, or its piles, the largest first. */
static struct bin *list_group(struct settling *s, struct pile_group *g, struct bin *bin) {
  struct pile *piles = &s->p->pool[g->piles];
  g->bins = (uint32_t)(bin - s->bins.bins);
  if (g->many) {
    const struct crowd *c = &s->crowds[g->crowd];
    for (uint32_t i = 0; i < c->n; i++) *bin++ = (struct bin){.n = c->sizes[i]};
    return bin;
  }
  find_largest(s->p, g);
  for (uint8_t i = 0; i < g->n_piles; i++) {
    const uint8_t before = i == g->largest ? 0 : (uint8_t)(i + (i < g->largest));
    piles[i].bin = g->bins + before;
    s->bins.bins[piles[i].bin] = (struct bin){.n = piles[i].n};
  }
  return bin + g->n_piles;
}

static bool list_bins(struct settling *s) {
  struct piles *p = s->p;
  uint64_t n = 0;
  for (const struct pile_group *g = p->groups; g < p->groups + p->n_groups; g++) n += g->many ? s->crowds[g->crowd].n : g->n_piles;
  struct bin *bin = s->bins.bins = mem_array(p->mem, n, sizeof *bin);
  if (!bin) return false;
  s->bins.n_bins = (uint32_t)n;
  for (struct pile_group *g = p->groups; g < p->groups + p->n_groups; g++) bin = list_group(s, g, bin);
  return true;
}

static void scatter(struct settling *s) {
  const struct piles *p = s->p;
  struct bins *const bins = &s->bins;
  for (uint32_t i = 1; i <= s->a->n; i++) {
    const byte *elem = (const byte *)s->a->items + (size_t)i * PILE_ELEM;
    if (p->of[i] == PILE_NONE) continue;
    const struct pile_group *g = &p->groups[group_of(p, s->a, elem)];
    const uint32_t bin = g->many ? g->bins + bucket_of(&s->crowds[g->crowd], time_of(elem)) : p->pool[g->piles + p->of[i]].bin;
    bins_put(bins, &bins->bins[bin], i - 1);
  }
}

/* Moves the elements so that each group, pile and bucket is contiguous. */
static bool settle_bins(struct settling *s) {
  s->bins = (struct bins){.mem = s->p->mem, .items = (byte *)s->a->items + PILE_ELEM, .was = s->a->was ? s->a->was + 1 : NULL,
                          .n_items = s->a->n};
  const bool ok = list_bins(s) && bins_begin(&s->bins);
  if (ok) scatter(s);
  bins_end(&s->bins, ok);
  mem_free(s->p->mem, s->bins.bins);
  return ok;
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

/* Copies all piles but the largest aside, and lists all their elements as unmerged. `first`: position of the group. */
static unsigned list_rests(const struct settling *s, const struct pile_group *g, uint32_t first, struct rest *rests) {
  const struct pile *piles = &s->p->pool[g->piles];
  const uint32_t largest = piles[g->largest].n;
  const byte *const items = (const byte *)s->a->items + (size_t)first * PILE_ELEM;
  const uint32_t *const was = s->a->was ? s->a->was + first : NULL;
  unsigned n = 0;
  memcpy(s->aside, items + (size_t)largest * PILE_ELEM, (size_t)(g->n - largest) * PILE_ELEM);
  if (was) memcpy(s->aside_was, was + largest, (g->n - largest) * sizeof *was);
  uint32_t last = 0;
  for (uint8_t i = 0; i < g->n_piles; i++) {
    const bool front = i == g->largest;
    if (!front) last += piles[i].n;
    const uint32_t at = (front ? largest : last) - 1;
    const uint32_t *const ids = front ? was : s->aside_was;
    rests[n++] = (struct rest){piles[i].top, (front ? items : s->aside) + (size_t)at * PILE_ELEM, was ? ids + at : NULL, piles[i].n, i};
    sift(rests, n);
  }
  return n;
}

/* Merges the piles of the group at position `first`, the latest element first. */
static void merge(const struct settling *s, const struct pile_group *g, uint32_t first) {
  struct rest rests[PILES_MOST];
  unsigned n = list_rests(s, g, first, rests);
  byte *to = (byte *)s->a->items + ((size_t)first + g->n) * PILE_ELEM;
  uint32_t *was = s->a->was ? s->a->was + first + g->n : NULL;
  while (n > 0) {
    struct rest *r = &rests[n - 1];
    if (n == 1 && r->last + PILE_ELEM == to) return; /* the remaining elements are in place already */
    do {
      bins_copy(to -= PILE_ELEM, r->last);
      if (was) *--was = *r->was--;
      if (--r->n == 0) break;
      r->last -= PILE_ELEM;
      r->ts = time_of(r->last);
    } while (n == 1 || is_later(r, r - 1));
    if (r->n == 0) n--;
    else sift(rests, n);
  }
}

/* Allocates what merging needs: room for all piles of a group but the largest. */
static bool make_room(struct settling *s) {
  const struct piles *p = s->p;
  uint32_t most = 0;
  for (const struct pile_group *g = p->groups; g < p->groups + p->n_groups; g++) {
    if (g->many || g->n_piles < 2) continue;
    const uint32_t n = g->n - p->pool[g->piles + g->largest].n;
    if (n > most) most = n;
  }
  s->aside = mem_array(p->mem, most, PILE_ELEM);
  s->aside_was = s->a->was ? mem_array(p->mem, most, sizeof *s->aside_was) : NULL;
  return !p->mem->failed;
}

static bool merge_all(struct settling *s) {
  const struct piles *p = s->p;
  uint32_t first = 1;
  if (!make_room(s)) return false;
  for (const struct pile_group *g = p->groups; g < p->groups + p->n_groups; first += g++->n) {
    if (g->many && !sort_crowd(s->p, s->a, &s->crowds[g->crowd], first)) return false;
    if (!g->many && g->n_piles > 1) merge(s, g, first);
  }
  return true;
}

/* True if the elements were added in their final order. */
static bool is_settled(const struct piles *p, const struct pile_array *a) {
  bool settled = a->grouped;
  for (uint32_t i = 0; settled && i < p->n_groups; i++) settled = p->groups[i].n_piles < 2 && !p->groups[i].many;
  return settled;
}

bool piles_settle(struct piles *p, const struct pile_array *a) {
  struct settling s = {.p = p, .a = a};
  const uint32_t n_crowds = number_crowds(p);
  if (p->mem->failed) return false;
  for (uint32_t i = 1; a->was && i <= a->n; i++) a->was[i] = i;
  if (is_settled(p, a)) return true;
  const bool ok = (!n_crowds || (s.crowds = find_crowds(p, a, n_crowds))) && settle_bins(&s) && merge_all(&s);
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
