/* hypotheses.c - enumerates the plausible ways to pair the collectives of a clock with those of the common timeline
 * (posterior.h).
 *
 * There are many possible shifts, so each shift is first tried on a few pairs. The search keeps shifts of three kinds. First,
 * shifts whose differences of ends agree best. Second, shifts with the smallest changes between consecutive differences; if a
 * clock was set, the right shift has one large change and would not be kept otherwise. Third, shifts with the most pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hypotheses.h"
#include "posterior.h"
#include "base/order.h"

enum { SAMPLES = 64, BY_SPREAD = 14, BY_STEPS = 6, BY_LENGTH = 3, MOST_SHIFTS = 4096 };
enum { PEAKS = 16, VOTERS = 128, MOST_VOTES = 1 << 16, FOLLOWERS = 2048 };
#define NARROW (40 * US) /* window in which votes for an offset are counted */
#define WIDE (1000 * US) /* the same window for long traces, in which clocks drift apart */
#define LONG_TIME 2e9    /* ns: the window is WIDE for traces that last longer than this */
#define NEAR (15 * US)   /* largest distance of pairs found by votes, unless 8 sigma is larger */
#define SAME (12 * US)   /* when a clock is compared with itself: a smaller distance means the same collective */

/* Returns the index of a pseudo-random element of a block. Programs are periodic, so a periodic sample would contain only one
 * kind of collective. */
static uint32_t pick(uint32_t block, uint32_t stride) { return stride < 2 ? 0 : (block * 2654435761u >> 16) % stride; }

uint32_t hypotheses_points(const struct hypotheses *h, const struct hypothesis *y, uint32_t stride, struct point *out) {
  const struct view *v = h->q->view;
  uint32_t n = 0;
  for (uint32_t i = 0, seen = 0; i < v->n_b; i++) {
    if (y->partner[i] == ALIGN_NONE) continue;
    uint32_t block = seen / stride, at = seen++ % stride;
    if (at != pick(block, stride)) continue;
    out[n++] = (struct point){v->b_head[i].end, v->b_head[i].end - v->a_head[y->partner[i]].end};
  }
  return n;
}

/* ---- the list ---- */

static bool is_itself(const struct hypotheses *h, uint32_t n) {
  const struct view *v = h->q->view;
  uint32_t same = 0;
  for (uint32_t i = 0; i < v->n_b; i++)
    same += h->partner[i] != ALIGN_NONE && fabs(v->b_head[i].end - v->a_head[h->partner[i]].end) < SAME;
  return 2 * same > n;
}

static bool has_exact(const struct sight *s) { return s->exact != 0; }

/* Adds the pairs in h->partner as a hypothesis, unless there are too few of them or they are a hypothesis already. Returns
 * false when memory runs out. */
static bool add(struct hypotheses *h, struct arena *arena) {
  uint32_t n = 0, n_b = h->q->view->n_b;
  uint64_t hash = 1;
  for (uint32_t i = 0; i < n_b; i++) {
    n += h->partner[i] != ALIGN_NONE;
    hash = hash_mix(hash, h->partner[i]);
  }
  if (n < 2 || h->n == HYPOTHESES || (h->self && is_itself(h, n))) return true;
  for (uint32_t i = 0; i < h->n; i++)
    if (h->v[i].hash == hash && h->v[i].n == n) return true;
  struct hypothesis *y = &h->v[h->n];
  *y = (struct hypothesis){.n = n, .hash = hash, .partner = arena_alloc(arena, n_b * sizeof *y->partner)};
  if (!y->partner) return false;
  memcpy(y->partner, h->partner, n_b * sizeof *y->partner);
  h->n++;
  return true;
}

static void clear(struct hypotheses *h) {
  for (uint32_t i = 0; i < h->q->view->n_b; i++) h->partner[i] = ALIGN_NONE;
}

/* ---- by sequence number ---- */

static bool by_sequence(struct hypotheses *h, struct arena *arena) {
  const struct view *v = h->q->view;
  struct map index;
  bool ok = true;
  map_init(&index, h->q->mem);
  clear(h);
  for (uint32_t i = 0; ok && i < v->n_a; i++)
    if (has_exact(v->a[i])) ok = map_put(&index, v->a[i]->exact, i) != NULL;
  for (uint32_t i = 0; i < v->n_b; i++) {
    const uint32_t *at = has_exact(v->b[i]) ? map_get(&index, v->b[i]->exact) : NULL;
    if (at && v->a[*at]->label == v->b[i]->label) h->partner[i] = *at;
  }
  map_free(&index);
  memcpy(h->numbered, h->partner, v->n_b * sizeof *h->numbered);
  return ok && (h->self || add(h, arena));
}

/* ---- shifts ---- */

enum family { BY_ORDER, FROM_FRONT, FROM_END };

struct shifts {
  struct hypotheses *h;
  enum family family;
  struct map index; /* for steps of the common timeline: label, step and position -> sight */
};

static uint64_t place_key(const struct sight *s, int64_t step, enum family family) {
  uint32_t nth = family == FROM_END ? s->of - s->nth : s->nth;
  return hash_mix(hash_mix(s->label, (uint64_t)step), nth);
}

static uint32_t partner_by(const struct shifts *s, int64_t shift, uint32_t b) {
  const struct view *v = s->h->q->view;
  if (s->family == BY_ORDER) {
    int64_t a = (int64_t)b + shift;
    return a >= 0 && a < v->n_a && v->a_head[a].label == v->b_head[b].label ? (uint32_t)a : ALIGN_NONE;
  }
  if (!v->b[b]->stepped) return ALIGN_NONE;
  const uint32_t *at = map_get(&s->index, place_key(v->b[b], v->b[b]->step + shift, s->family));
  return at ? *at : ALIGN_NONE;
}

/* Score of a shift, from a sample of its pairs. */
struct tried {
  int64_t shift;
  double by_spread, by_steps; /* larger is better: more pairs that agree better */
  uint32_t n;
};

static double closeness(double spread, uint32_t n) { return n * fmax(0, log(300 * US / (spread + 2 * US))); }

static bool try_shift(const struct shifts *s, int64_t shift, struct tried *out) {
  const struct view *v = s->h->q->view;
  uint32_t from = 0, to = v->n_b, n = 0, asked = 0;
  double y[SAMPLES + 1], room[SAMPLES + 1];
  if (s->family == BY_ORDER) {
    from = shift < 0 ? (uint32_t)-shift : 0;
    to = (int64_t)v->n_a - shift < to ? (uint32_t)((int64_t)v->n_a - shift) : to;
  }
  uint32_t stride = (to - from) / SAMPLES + 1;
  for (uint32_t i = from; i < to; i += stride, asked++) {
    uint32_t a = partner_by(s, shift, i);
    if (a != ALIGN_NONE) y[n++] = v->b_head[i].end - v->a_head[a].end;
  }
  if (n < 2 || (s->family == BY_ORDER && 10 * n < 9 * asked)) return false;
  memcpy(room, y, n * sizeof *y);
  double middle = curve_median(room, n);
  for (uint32_t i = 0; i < n; i++) room[i] = fabs(y[i] - middle);
  double spread = curve_median(room, n);
  for (uint32_t i = 0; i + 1 < n; i++) room[i] = fabs(y[i + 1] - y[i]);
  double steps = curve_median(room, n - 1);
  *out = (struct tried){shift, closeness(spread, n * stride), closeness(steps, n * stride), n * stride};
  return true;
}

static int by_spread(const void *pa, const void *pb) {
  const struct tried *a = pa, *b = pb;
  if (a->by_spread != b->by_spread) return a->by_spread > b->by_spread ? -1 : 1;
  return (a->shift > b->shift) - (a->shift < b->shift);
}
static int by_steps(const void *pa, const void *pb) {
  const struct tried *a = pa, *b = pb;
  if (a->by_steps != b->by_steps) return a->by_steps > b->by_steps ? -1 : 1;
  return (a->shift > b->shift) - (a->shift < b->shift);
}
static int by_length(const void *pa, const void *pb) {
  const struct tried *a = pa, *b = pb;
  if (a->n != b->n) return a->n > b->n ? -1 : 1;
  return (a->shift > b->shift) - (a->shift < b->shift);
}

static bool add_shifts(struct shifts *s, struct arena *arena, const struct tried *v, uint32_t n) {
  bool ok = true;
  for (uint32_t k = 0; ok && k < n; k++) {
    for (uint32_t i = 0; i < s->h->q->view->n_b; i++) s->h->partner[i] = partner_by(s, v[k].shift, i);
    ok = add(s->h, arena);
  }
  return ok;
}

/* Tries the shifts low..high, or evenly spaced ones if there are too many, and adds the best of them as hypotheses. */
static bool by_shifts(struct shifts *s, struct arena *arena, int64_t low, int64_t high) {
  struct mem *mem = s->h->q->mem;
  uint32_t n = 0, all = (uint32_t)(high - low + 1);
  int64_t stride = (high - low) / MOST_SHIFTS + 1;
  struct tried *v = mem_array(mem, (uint64_t)all / (uint64_t)stride + 2, sizeof *v);
  bool ok = v != NULL;
  for (int64_t shift = low; ok && shift <= high; shift += stride) n += try_shift(s, shift, &v[n]);
  if (s->family == BY_ORDER) s->h->aliases = n;
  if (n) qsort(v, n, sizeof *v, by_length);
  ok = ok && add_shifts(s, arena, v, n < BY_LENGTH ? n : BY_LENGTH);
  if (n) qsort(v, n, sizeof *v, by_spread);
  ok = ok && add_shifts(s, arena, v, n < BY_SPREAD ? n : BY_SPREAD);
  if (n) qsort(v, n, sizeof *v, by_steps);
  ok = ok && add_shifts(s, arena, v, n < BY_STEPS ? n : BY_STEPS);
  mem_free(mem, v);
  return ok;
}

static bool by_order(struct hypotheses *h, struct arena *arena) {
  struct shifts s = {.h = h, .family = BY_ORDER};
  return by_shifts(&s, arena, 1 - (int64_t)h->q->view->n_b, (int64_t)h->q->view->n_a - 1);
}

/* Finds the first and the last step number of n sights; returns false if they have none. */
static bool step_range(struct sight *const *v, uint32_t n, int64_t *low, int64_t *high) {
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    if (!v[i]->stepped) continue;
    *low = any && *low < v[i]->step ? *low : v[i]->step;
    *high = any && *high > v[i]->step ? *high : v[i]->step;
    any = true;
  }
  return any;
}

static bool by_step(struct hypotheses *h, struct arena *arena, enum family family) {
  const struct view *v = h->q->view;
  struct shifts s = {.h = h, .family = family};
  int64_t a_low = 0, a_high = 0, b_low = 0, b_high = 0, low, high, most = MOST_SHIFTS / 8;
  bool ok = true;
  if (!step_range(v->a, v->n_a, &a_low, &a_high) || !step_range(v->b, v->n_b, &b_low, &b_high)) return true;
  if (__builtin_sub_overflow(a_low, b_high, &low) || __builtin_sub_overflow(a_high, b_low, &high)) return true;
  if (low > most || high < -most) return true; /* the step numbers are unrelated; shifts by order yield the same pairings */
  map_init(&s.index, h->q->mem);
  for (uint32_t i = 0; ok && i < v->n_a; i++)
    if (v->a[i]->stepped) ok = map_put(&s.index, place_key(v->a[i], v->a[i]->step, family), i) != NULL;
  ok = ok && by_shifts(&s, arena, low < -most ? -most : low, high > most ? most : high);
  map_free(&s.index);
  return ok;
}

/* ---- by vote ---- */

/* A sight (recorded collective) of the common timeline; the array is sorted by label and then by time. */
struct seen {
  uint64_t label;
  double end;
  uint32_t place; /* index in the view */
};

/* The sights of one label form a run in `a`. The sights of the clock are in order of time, so pair_near traverses each
 * run only once. Searching the run for every sight took two thirds of the time to compare clocks that do not match. */
struct voting {
  struct hypotheses *h;
  struct seen *a;
  uint32_t *run;    /* by sight of the clock: index in `a` of the first sight of its label; n_a = none */
  uint32_t *end;    /* by first index of a run: end of the run */
  uint32_t *cursor; /* by first index of a run: first sight at or after the time searched last */
  uint32_t *owner;  /* by sight in `a`: the sight of the clock paired with it */
  double *placed;   /* by sight of the clock: its end on the common timeline */
  double *difference;
  uint32_t n;
  double window;
};

static int by_label(const void *pa, const void *pb) {
  const struct seen *a = pa, *b = pb;
  if (a->label != b->label) return a->label < b->label ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static uint32_t run_of(const struct voting *v, uint64_t label) {
  uint32_t n_a = v->h->q->view->n_a, lo = 0, hi = n_a;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (v->a[mid].label < label) lo = mid + 1;
    else hi = mid;
  }
  return lo < n_a && v->a[lo].label == label ? lo : n_a;
}

static void list_runs(struct voting *v) {
  const struct view *w = v->h->q->view;
  for (uint32_t i = 0; i < w->n_a; i++) v->a[i] = (struct seen){w->a_head[i].label, w->a_head[i].end, i};
  qsort(v->a, w->n_a, sizeof *v->a, by_label);
  for (uint32_t i = 0, k; i < w->n_a; i = k) {
    for (k = i; k < w->n_a && v->a[k].label == v->a[i].label;) k++;
    v->end[i] = k;
  }
  v->end[w->n_a] = w->n_a;
  for (uint32_t i = 0; i < w->n_b; i++) v->run[i] = run_of(v, w->b_head[i].label);
}

static void collect_votes(struct voting *v) {
  const struct view *w = v->h->q->view;
  uint32_t stride = w->n_b / VOTERS + 1;
  for (uint32_t i = 0; i < w->n_b; i += stride)
    for (uint32_t k = v->run[i]; k < v->end[v->run[i]] && v->n < MOST_VOTES; k++)
      v->difference[v->n++] = w->b_head[i].end - v->a[k].end;
  if (v->n) qsort(v->difference, v->n, sizeof *v->difference, order_doubles);
}

static double middle_of(double *room, const double *v, uint32_t n) {
  memcpy(room, v, n * sizeof *v);
  return curve_median(room, n);
}

/* Returns the sight of a run that is nearest to t; ALIGN_NONE if none is within `reach`. */
static uint32_t nearest(struct voting *v, uint32_t run, double t, double reach) {
  uint32_t at = v->cursor[run], best;
  while (at < v->end[run] && v->a[at].end < t) at++;
  while (at > run && v->a[at - 1].end >= t) at--; /* rounding may make a time earlier than the previous one */
  v->cursor[run] = at;
  best = at < v->end[run] ? at : ALIGN_NONE;
  if (at > run && (best == ALIGN_NONE || t - v->a[at - 1].end < v->a[best].end - t)) best = at - 1;
  return best != ALIGN_NONE && fabs(v->a[best].end - t) <= reach ? best : ALIGN_NONE;
}

/* Pairs about every `stride`-th sight of the clock with the sight of the common timeline that is nearest on the line, within
 * `reach`. If two sights of the clock have the same nearest one, only the closer of the two is paired. */
static void pair_near(struct voting *v, const struct piece *line, double reach, uint32_t stride) {
  struct hypotheses *h = v->h;
  const struct view *w = h->q->view;
  clear(h);
  for (uint32_t i = 0; i < w->n_a; i++) v->owner[i] = ALIGN_NONE;
  for (uint32_t i = 0; i <= w->n_a; i++) v->cursor[i] = i;
  for (uint32_t block = 0, i; (i = block * stride + pick(block, stride)) < w->n_b; block++) {
    double t = v->placed[i] = w->b_head[i].end - piece_at(line, w->b_head[i].end);
    uint32_t at = nearest(v, v->run[i], t, reach), had = at == ALIGN_NONE ? ALIGN_NONE : v->owner[at];
    if (at == ALIGN_NONE) continue;
    if (had != ALIGN_NONE) {
      if (fabs(v->placed[had] - v->a[at].end) <= fabs(t - v->a[at].end)) continue;
      h->partner[had] = ALIGN_NONE;
    }
    v->owner[at] = i;
    h->partner[i] = v->a[at].place;
  }
}

/* Refines a peak of votes: pairs the sights near it, fits a line, and pairs again near the line. A sample determines the line;
 * only the last round pairs all sights. */
static bool follow(struct voting *v, double offset, struct arena *arena) {
  struct hypotheses *h = v->h;
  struct pieces fit = {.n = 1, .v = {{.level = offset}}};
  double reach = v->window;
  const uint32_t stride = h->q->view->n_b / FOLLOWERS + 1;
  for (int round = 0; round < 3; round++) {
    pair_near(v, &fit.v[0], reach, stride);
    uint32_t n = hypotheses_points(h, &(struct hypothesis){.partner = h->partner}, 1, h->points);
    if (n < 2) return true;
    pieces_line(&fit, h->points, n, h->room);
    reach = fmin(reach, fmax(NEAR, 8 * fit.sigma));
  }
  pair_near(v, &fit.v[0], reach, 1);
  return add(h, arena);
}

/* Follows the peaks: the windows with the most votes, none of them close to another. */
static bool follow_peaks(struct voting *v, struct arena *arena) {
  double taken[PEAKS];
  for (uint32_t peaks = 0; peaks < PEAKS; peaks++) {
    uint32_t best = 0, from = 0;
    for (uint32_t i = 0, k = 0; k < v->n; k++) {
      while (v->difference[k] - v->difference[i] > v->window) i++;
      bool free = k - i + 1 > best;
      for (uint32_t p = 0; free && p < peaks; p++)
        free = v->difference[i] > taken[p] + 2 * v->window || v->difference[k] < taken[p] - 2 * v->window;
      if (!free) continue;
      best = k - i + 1;
      from = i;
    }
    if (best < 2) return true;
    taken[peaks] = middle_of(v->h->room, v->difference + from, best);
    if (!follow(v, taken[peaks], arena)) return false;
  }
  return true;
}

static bool by_vote(struct hypotheses *h, struct arena *arena) {
  const struct view *w = h->q->view;
  const size_t n_a = (size_t)w->n_a + 1;
  double span = fmax(w->a_head[w->n_a - 1].end - w->a_head[0].end, w->b_head[w->n_b - 1].end - w->b_head[0].end);
  struct voting v = {.h = h, .window = span > LONG_TIME ? WIDE : NARROW};
  v.a = arena_alloc(arena, n_a * sizeof *v.a);
  v.run = arena_alloc(arena, w->n_b * sizeof *v.run);
  v.end = arena_alloc(arena, n_a * sizeof *v.end);
  v.cursor = arena_alloc(arena, n_a * sizeof *v.cursor);
  v.owner = arena_alloc(arena, n_a * sizeof *v.owner);
  v.placed = arena_alloc(arena, w->n_b * sizeof *v.placed);
  v.difference = mem_array(h->q->mem, MOST_VOTES, sizeof *v.difference);
  bool ok = v.a && v.run && v.end && v.cursor && v.owner && v.placed && v.difference;
  if (ok) {
    list_runs(&v);
    collect_votes(&v);
    ok = follow_peaks(&v, arena);
  }
  mem_free(h->q->mem, v.difference);
  return ok;
}

/* ---- entry points ---- */

bool hypotheses_find(struct hypotheses *h, struct arena *arena) {
  const struct view *v = h->q->view;
  size_t most = (v->n_a > v->n_b ? v->n_a : v->n_b) + 2;
  h->n = h->aliases = 0;
  h->partner = arena_alloc(arena, most * sizeof *h->partner);
  h->numbered = arena_alloc(arena, most * sizeof *h->numbered);
  h->points = arena_alloc(arena, most * sizeof *h->points);
  h->room = arena_alloc(arena, (2 * most > MOST_VOTES ? 2 * most : MOST_VOTES) * sizeof *h->room);
  if (!h->partner || !h->numbered || !h->points || !h->room) return false;
  if (v->n_a == 0 || v->n_b == 0) return true;
  if (!by_sequence(h, arena) || !by_order(h, arena)) return false;
  return by_step(h, arena, FROM_FRONT) && by_step(h, arena, FROM_END) && by_vote(h, arena);
}
