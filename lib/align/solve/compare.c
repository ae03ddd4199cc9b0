/* compare.c - runs comparisons in advance (compare.h). */
#include "compare.h"

#include <math.h>

#include "base/jobs.h"
#include "hypotheses.h"

/* Pairs markers in order: the first of one side with the first of the other, and so on. */
static bool match_markers(const struct question *q, struct arena *arena, struct posterior *out) {
  const struct view *v = q->view;
  struct hypothesis *y = &out->best;
  double *room = arena_alloc(arena, 2 * ((size_t)v->n_b + 1) * sizeof *room);
  *out = (struct posterior){.best = {.weight = 1}};
  y->partner = arena_alloc(arena, ((size_t)v->n_b + 1) * sizeof *y->partner);
  out->points = arena_alloc(arena, ((size_t)v->n_b + 1) * sizeof *out->points);
  if (!room || !y->partner || !out->points) return false;
  for (uint32_t i = 0; i < v->n_b; i++) {
    y->partner[i] = i < v->n_a && v->a[i]->label == v->b[i]->label ? i : ALIGN_NONE;
    y->n += y->partner[i] != ALIGN_NONE;
  }
  struct hypotheses h = {.q = q};
  uint32_t n = out->n_points = hypotheses_points(&h, y, 1, out->points);
  if (!(out->any = n > 0)) return true;
  out->last = n - 1;
  pieces_line(&y->fit, out->points, n, room);
  pieces_split(&y->fit, out->points, n, room);
  for (uint32_t i = 0; i < n; i++) room[i] = fabs(pieces_residual(&y->fit, out->points, i));
  out->mad = curve_median(room, n);
  out->p95 = curve_nth(room, n, (uint32_t)((n - 1) * 0.95 + 0.5));
  return true;
}

static void compare_one(void *comparison) {
  struct comparison *c = comparison;
  c->arena = (struct arena){.mem = &c->mem};
  c->q.view = &c->view;
  c->q.mem = &c->mem;
  c->done = timeline_view(c->common, c->sights, c->n, &c->arena, &c->view);
  if (c->done) c->done = c->marker ? match_markers(&c->q, &c->arena, &c->found) : posterior_find(&c->q, &c->arena, &c->found);
}

/* Returns the memory budget of one of `shares` comparisons, which divide the memory that is left. */
static struct mem share_of(const struct mem *whole, uint32_t shares) {
  const uint64_t left = whole->limit > whole->used ? whole->limit - whole->used : 1;
  return (struct mem){.limit = whole->limit ? left / shares + 1 : 0};
}

void compare_init(struct compare *c, struct mem *mem, unsigned threads) {
  *c = (struct compare){.mem = mem, .threads = threads < COMPARE_MOST ? threads : COMPARE_MOST};
}

static void discard(struct compare *c) {
  for (; c->at < c->n; c->at++) arena_free(&c->v[c->at].arena);
  c->n = c->at = 0;
}

void compare_free(struct compare *c) {
  discard(c);
  jobs_stop(c->jobs);
  c->jobs = NULL;
}

bool compare_is_empty(const struct compare *c) { return c->at == c->n; }

uint32_t compare_width(const struct compare *c, uint32_t left) {
  if (c->placed || c->threads < 2) return 1;
  return left < c->threads ? left : c->threads;
}

void compare_add(struct compare *c, const struct timeline *common, struct sight *sights, uint32_t n, const struct question *q,
                 bool marker) {
  if (c->at == c->n) c->n = c->at = 0;
  c->v[c->n++] = (struct comparison){.common = common, .sights = sights, .n = n, .q = *q, .marker = marker};
}

void compare_run(struct compare *c) {
  for (uint32_t i = c->at; i < c->n; i++) c->v[i].mem = share_of(c->mem, c->n);
  if (c->n > 1 && !c->jobs) c->jobs = jobs_start(c->threads - 1, compare_one);
  for (uint32_t i = c->at; i < c->n; i++) {
    if (c->n > 1 && c->jobs) jobs_give(c->jobs, &c->v[i]);
    else compare_one(&c->v[i]);
  }
  while (c->n > 1 && c->jobs && jobs_take(c->jobs)) continue;
}

struct comparison *compare_take(struct compare *c) {
  struct comparison *v = &c->v[c->at];
  if (!v->done) { /* the comparison's share of memory was too small; all remaining memory may be enough */
    arena_free(&v->arena);
    for (uint32_t i = c->at + 1; i < c->n; i++) arena_free(&c->v[i].arena);
    c->n = c->at + 1;
    v->mem = share_of(c->mem, 1);
    compare_one(v);
  }
  if (!v->done) c->mem->failed = true;
  return v->done ? v : NULL;
}

void compare_end(struct compare *c, bool placed) {
  arena_free(&c->v[c->at++].arena);
  c->placed = placed;
  if (placed) discard(c);
}
