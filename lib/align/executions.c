/* executions.c - which execution of an XLA program on one device is which on another.
 *
 * A device numbers what it runs by itself (run_id), and recordings begin when they like: numbers mean something only by their
 * difference.  So for two devices every difference that makes programs meet is tried, and where numbers are missing every one of
 * their order, and the longest common subsequence of both orders; the right one is that by which the ends of all collectives are
 * equally far apart: by any other, steps that took longer and shorter meet.  Where no pairing is clearly better than the next, the
 * host is not matched beyond doubt, and that is said.
 *
 * Devices join one after the other, each by one that is in already; equal executions get equal numbers, which make the exact keys. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "lcs.h"

enum { NONE = UINT32_MAX, CANDIDATES = 48, VOTERS = 128, POINTS = 128, LABELS = 256, FEWEST = 3, LONGEST = 1024, TRIES = 4 };
#define FLOOR 2e3 /* ns: deviations below are as good as each other */

struct execution {
  uint64_t module;
  int64_t position;     /* run_id, or order */
  uint32_t from, to;    /* its anchors, by label */
  uint32_t instance;    /* equal numbers are one execution; 0 = not yet known */
};

struct device {
  uint32_t host, first, n; /* its executions */
  bool numbered;           /* all have run ids, which grow */
  bool placed;
  uint32_t tries;          /* to place it */
  uint64_t *labels;        /* its smallest ones */
  uint32_t n_labels;
};

struct executor {
  struct align_work *w;
  struct align_anchor *v;
  struct execution *x;
  struct device *d;
  uint32_t n_x, n_d, last_instance;
  uint32_t *partner, *best; /* by execution of the device that is placed: one of the other device's, or NONE */
  uint32_t *queue;
  struct point *points;
  double *room;
};

/* ---- the devices and their executions ---- */

static int by_device(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (!a->module != !b->module) return !a->module - !b->module;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  if (a->execution != b->execution) return a->execution < b->execution ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

static bool same_device(const struct align_anchor *a, const struct align_anchor *b) {
  return a->input == b->input && a->device == b->device;
}

static int by_value(const void *pa, const void *pb) {
  uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
  return (a > b) - (a < b);
}

static bool list_labels(struct executor *e, struct device *d, uint32_t from, uint32_t to) {
  uint64_t *all = arena_alloc(&e->w->arena, ((size_t)(to - from) + 1) * sizeof *all);
  if (!all) return false;
  for (uint32_t i = from; i < to; i++) all[i - from] = e->v[i].label;
  if (to > from) qsort(all, to - from, sizeof *all, by_value);
  d->labels = all;
  for (uint32_t i = 0; i < to - from && d->n_labels < LABELS; i++)
    if (i == 0 || all[i] != all[d->n_labels - 1]) all[d->n_labels++] = all[i];
  return true;
}

static void add_execution(struct executor *e, struct device *d, uint32_t from, uint32_t to) {
  struct execution *x = &e->x[e->n_x++];
  *x = (struct execution){.module = e->v[from].module, .position = e->v[from].run, .from = from, .to = to};
  bool grows = d->n == 0 || x->position > x[-1].position;
  d->numbered = e->v[from].has_run && (d->n == 0 || d->numbered) && grows;
  d->n++;
}

static bool add_device(struct executor *e, uint32_t from, uint32_t to) {
  struct device *d = &e->d[e->n_d++];
  *d = (struct device){.host = e->w->p->host_of[e->v[from].input], .first = e->n_x};
  for (uint32_t i = from, k; i < to; i = k) {
    for (k = i + 1; k < to && e->v[k].execution == e->v[i].execution;) k++;
    add_execution(e, d, i, k);
  }
  return list_labels(e, d, from, to);
}

static bool list_devices(struct executor *e) {
  struct align_anchors *a = e->w->p->anchors;
  struct arena *arena = &e->w->arena;
  size_t n = (size_t)a->n + 1;
  qsort(a->v, a->n, sizeof *a->v, by_device);
  e->v = a->v;
  e->x = arena_alloc(arena, n * sizeof *e->x);
  e->d = arena_alloc(arena, n * sizeof *e->d);
  e->partner = arena_alloc(arena, n * sizeof *e->partner);
  e->best = arena_alloc(arena, n * sizeof *e->best);
  e->queue = arena_alloc(arena, n * sizeof *e->queue);
  e->points = arena_alloc(arena, POINTS * sizeof *e->points);
  e->room = arena_alloc(arena, POINTS * sizeof *e->room);
  if (!e->x || !e->d || !e->partner || !e->best || !e->queue || !e->points || !e->room) return false;
  for (uint32_t i = 0, k; i < a->n && a->v[i].module; i = k) {
    for (k = i + 1; k < a->n && a->v[k].module && same_device(&a->v[i], &a->v[k]);) k++;
    if (!add_device(e, i, k)) return false;
  }
  return true;
}

/* ---- how good a pairing is ---- */

struct pairing {
  uint32_t pairs;
  double deviation; /* ns */
};

static double reading(const struct executor *e, const struct align_anchor *a) {
  return (double)(a->end - e->w->pivot[e->w->p->host_of[a->input]]);
}

/* Some of the collectives that two executions have in common. */
static uint32_t add_points(struct executor *e, const struct execution *x, const struct execution *y, uint32_t most) {
  uint32_t n = 0, room = 0;
  while (room < POINTS && !isnan(e->points[room].x)) room++;
  for (uint32_t i = x->from, k = y->from; i < x->to && k < y->to && n < most && room + n < POINTS;) {
    if (e->v[i].label != e->v[k].label) {
      if (e->v[i].label < e->v[k].label) i++;
      else k++;
      continue;
    }
    double t = reading(e, &e->v[k]);
    e->points[room + n++] = (struct point){t, t - reading(e, &e->v[i])};
    i++;
    k++;
  }
  return n;
}

/* Median distance from a line, or from a constant where there are few executions; of one host, from nothing: it has one clock. */
static double deviation(struct executor *e, uint32_t n, bool line, bool same_host) {
  struct point *p = e->points;
  uint32_t half = n / 2, slopes = 0;
  double slope = 0, level = 0;
  for (uint32_t i = 0; line && i + half < n; i++)
    if (p[i + half].x > p[i].x) e->room[slopes++] = (p[i + half].y - p[i].y) / (p[i + half].x - p[i].x);
  if (slopes) slope = fmax(-5e-4, fmin(5e-4, point_median(e->room, slopes)));
  for (uint32_t i = 0; i < n; i++) e->room[i] = p[i].y -= slope * (p[i].x - p[0].x);
  if (!same_host) level = point_median(e->room, n);
  for (uint32_t i = 0; i < n; i++) e->room[i] = fabs(p[i].y - level);
  return fmax(point_median(e->room, n), FLOOR);
}

static struct pairing judge_pairing(struct executor *e, const struct device *x, const struct device *y, const uint32_t *partner) {
  struct pairing r = {0, INFINITY};
  uint32_t n = 0, passed = 0;
  for (uint32_t i = 0; i < y->n; i++) r.pairs += partner[i] != NONE;
  uint32_t stride = r.pairs / (POINTS / 4) + 1, most = POINTS / (r.pairs / stride + 1);
  for (uint32_t i = 0; i < POINTS; i++) e->points[i].x = NAN;
  for (uint32_t i = 0; i < y->n; i++)
    if (partner[i] != NONE && passed++ % stride == 0) n += add_points(e, &e->x[x->first + partner[i]], &e->x[y->first + i], most);
  bool same = x->host == y->host;
  if (n) r.deviation = deviation(e, n, !same && r.pairs >= 2 * FEWEST, same);
  return r;
}

/* ---- pairings to try ---- */

struct shift {
  int64_t by; /* position in x - position in y */
  uint32_t votes;
};

static int64_t position(const struct executor *e, const struct device *d, uint32_t i, bool numbered) {
  return numbered ? e->x[d->first + i].position : (int64_t)i;
}

static int by_votes(const void *pa, const void *pb) {
  const struct shift *a = pa, *b = pb;
  if (a->votes != b->votes) return a->votes > b->votes ? -1 : 1;
  return (a->by > b->by) - (a->by < b->by);
}

/* Every difference by which some executions of one program meet, by how many do. */
static uint32_t count_shifts(struct executor *e, const struct device *x, const struct device *y, bool numbered, struct shift *out) {
  struct map index;
  struct shift *all = NULL;
  uint32_t n = 0, cap = 0, stride = y->n / VOTERS + 1;
  map_init(&index, e->w->p->mem);
  for (uint32_t k = 0; k < y->n; k += stride) {
    for (uint32_t i = 0; i < x->n; i++) {
      if (e->x[x->first + i].module != e->x[y->first + k].module) continue;
      int64_t by = (int64_t)((uint64_t)position(e, x, i, numbered) - (uint64_t)position(e, y, k, numbered));
      uint32_t *at = map_put(&index, (uint64_t)by, UINT32_MAX);
      if (!at || (*at == UINT32_MAX && !mem_grow(e->w->p->mem, (void **)&all, &cap, (uint64_t)n + 1, sizeof *all))) break;
      if (*at == UINT32_MAX) all[*at = n++] = (struct shift){by, 0};
      all[*at].votes++;
    }
  }
  if (n) qsort(all, n, sizeof *all, by_votes);
  n = n < CANDIDATES ? n : CANDIDATES;
  if (n) memcpy(out, all, n * sizeof *out);
  mem_free(e->w->p->mem, all);
  map_free(&index);
  return n;
}

static void pair_by_shift(const struct executor *e, const struct device *x, const struct device *y, bool numbered, int64_t by) {
  uint32_t i = 0;
  for (uint32_t k = 0; k < y->n; k++) {
    int64_t wanted = (int64_t)((uint64_t)position(e, y, k, numbered) + (uint64_t)by);
    while (i < x->n && position(e, x, i, numbered) < wanted) i++;
    bool meets = i < x->n && position(e, x, i, numbered) == wanted && e->x[x->first + i].module == e->x[y->first + k].module;
    e->partner[k] = meets ? i : NONE;
  }
}

static bool pair_by_order(struct executor *e, const struct device *x, const struct device *y) {
  struct arena arena = {.mem = e->w->p->mem};
  if (x->n > LONGEST || y->n > LONGEST) return false;
  uint64_t *a = arena_alloc(&arena, x->n * sizeof *a), *b = arena_alloc(&arena, y->n * sizeof *b);
  for (uint32_t i = 0; a && i < x->n; i++) a[i] = e->x[x->first + i].module;
  for (uint32_t i = 0; b && i < y->n; i++) b[i] = e->x[y->first + i].module;
  bool ok = a && b && lcs(&arena, &(struct lcs){a, b, x->n, y->n}, e->partner);
  arena_free(&arena);
  return ok;
}

/* The best pairing so far, and how good the best of those is that say something else. */
struct contest {
  struct pairing best;
  double second;
  uint32_t enough;
};

static void enter_contest(struct executor *e, struct contest *c, const struct device *x, const struct device *y) {
  struct pairing p = judge_pairing(e, x, y, e->partner);
  uint32_t common = 0;
  for (uint32_t i = 0; i < y->n; i++) common += e->partner[i] != NONE && e->partner[i] == e->best[i];
  bool alike = common * 2 > (p.pairs < c->best.pairs ? p.pairs : c->best.pairs);
  bool better = p.deviation < c->best.deviation || (alike && p.deviation == c->best.deviation && p.pairs > c->best.pairs);
  if (p.pairs < c->enough || !better) {
    if (p.pairs >= 2 && !alike) c->second = fmin(c->second, p.deviation);
    return;
  }
  if (!alike) c->second = fmin(c->second, c->best.deviation);
  c->best = p;
  memcpy(e->best, e->partner, y->n * sizeof *e->best);
}

static void try_shifts(struct executor *e, struct contest *c, const struct device *x, const struct device *y, bool numbered) {
  struct shift shifts[CANDIDATES];
  uint32_t n = count_shifts(e, x, y, numbered, shifts);
  if (n) c->enough = shifts[0].votes / 4 > FEWEST ? shifts[0].votes / 4 : shifts[0].votes < FEWEST ? shifts[0].votes : FEWEST;
  for (uint32_t i = 0; i < n; i++) {
    pair_by_shift(e, x, y, numbered, shifts[i].by);
    enter_contest(e, c, x, y);
  }
}

/* Pairs y with x; true: beyond doubt.  The pairing is left in e->best. */
static bool pair(struct executor *e, const struct device *x, const struct device *y) {
  struct contest c = {{0, INFINITY}, INFINITY, 0};
  memset(e->best, 0xff, y->n * sizeof *e->best);
  if (x->numbered && y->numbered) try_shifts(e, &c, x, y, true);
  try_shifts(e, &c, x, y, false);
  if (pair_by_order(e, x, y)) enter_contest(e, &c, x, y);
  if (x->host == y->host) return c.best.pairs > 0 && c.second >= 2 * c.best.deviation;
  /* Of many pairings of few executions one may be good by chance. */
  bool most = c.best.pairs * 2 >= (x->n < y->n ? x->n : y->n);
  return c.best.pairs >= FEWEST && c.second >= (most ? 3 : 6) * c.best.deviation;
}

/* ---- one after the other ---- */

static bool share_labels(const struct device *x, const struct device *y) {
  for (uint32_t i = 0, k = 0; i < x->n_labels && k < y->n_labels;) {
    if (x->labels[i] == y->labels[k]) return true;
    if (x->labels[i] < y->labels[k]) i++;
    else k++;
  }
  return false;
}

/* y's executions are those of x that they are paired with, else new ones. */
static void number_executions(struct executor *e, const struct device *x, struct device *y) {
  for (uint32_t i = 0; i < y->n; i++) {
    bool paired = x && e->best[i] != NONE;
    e->x[y->first + i].instance = paired ? e->x[x->first + e->best[i]].instance : ++e->last_instance;
  }
  y->placed = true;
}

/* All that can be placed by the queue's devices: of the same host first, for they are sure. */
static void place_by(struct executor *e, uint32_t *n_queue, uint32_t *at, bool doubtful) {
  for (; *at < *n_queue; ++*at) {
    const struct device *x = &e->d[e->queue[*at]];
    for (int round = 0; round < 2; round++) {
      for (uint32_t i = 0; i < e->n_d; i++) {
        struct device *y = &e->d[i];
        if (y->placed || (y->host == x->host) != (round == 0) || !share_labels(x, y)) continue;
        if (!doubtful && ++y->tries > TRIES) continue;
        bool sure = pair(e, x, y);
        if (!sure && !doubtful) continue;
        if (!sure && y->host != x->host) e->w->clear[y->host] = 0;
        number_executions(e, x, y);
        e->queue[(*n_queue)++] = i;
        if (doubtful) return;
      }
    }
  }
}

static void place_all(struct executor *e) {
  uint32_t n = 0, at = 0;
  for (uint32_t i = 0; i < e->n_d; i++) {
    if (e->d[i].placed) continue;
    number_executions(e, NULL, &e->d[i]);
    e->queue[n++] = i;
    for (uint32_t before = 0; before != n;) {
      place_by(e, &n, &at, false);
      before = n;
      at = 0;
      place_by(e, &n, &at, true); /* one that is in doubt, then on with those that it makes sure */
      at = before;
    }
    at = n;
  }
}

bool align_executions(struct align_work *w) {
  struct executor e = {.w = w};
  bool any = false;
  for (uint32_t i = 0; i < w->p->anchors->n && !any; i++) any = w->p->anchors->v[i].module != 0;
  if (!any) return true;
  w->programs = true;
  if (!list_devices(&e)) return false;
  place_all(&e);
  for (uint32_t i = 0; i < e.n_x; i++)
    for (uint32_t k = e.x[i].from; k < e.x[i].to; k++)
      e.v[k].exact = align_mix(align_mix(e.v[k].label, e.x[i].instance), 51);
  return !w->p->mem->failed;
}
