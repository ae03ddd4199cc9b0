/* steps.c - matching within a step where ranks have not as many collectives of a kind.
 *
 * The how manieth of how many names a collective only where all ranks have as many.  Where one lacks some, its order of collectives
 * in the step is laid beside that of the rank that has most matched ones: by the longest common subsequence of what they are called,
 * so what is missing is passed over and the rest stays in step. */
#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "lcs.h"

enum { LONGEST = 2048 };

/* The anchors of one input in one step. */
struct window {
  uint32_t from, n, alone;
};

static int by_step_and_input(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  bool x = a->counted && a->says & ALIGN_EQUAL, y = b->counted && b->says & ALIGN_EQUAL;
  if (x != y) return x ? -1 : 1;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

struct stepper {
  struct align_work *w;
  uint32_t *size;  /* by match: anchors */
  uint32_t *taken; /* by match: the window that has it, + 1 */
  uint32_t serial;
  uint64_t *a, *b;
  uint32_t *partner;
};

static const uint64_t *labels(const struct align_anchor *v, uint32_t n, uint64_t *out) {
  for (uint32_t i = 0; i < n; i++) out[i] = v[i].label;
  return out;
}

/* What is alone in `to` becomes what it stands beside in `from`. */
static bool lay_beside(struct stepper *s, const struct align_anchor *from, uint32_t n, struct align_anchor *to, uint32_t m) {
  struct arena arena = {.mem = s->w->p->mem};
  if (n > LONGEST || m > LONGEST) return true;
  bool ok = lcs(&arena, &(struct lcs){labels(from, n, s->a), labels(to, m, s->b), n, m}, s->partner);
  arena_free(&arena);
  if (!ok) return false;
  s->serial++;
  for (uint32_t i = 0; i < m; i++)
    if (s->size[to[i].match] > 1) s->taken[to[i].match] = s->serial;
  for (uint32_t i = 0; i < m; i++) {
    if (s->size[to[i].match] > 1 || s->partner[i] == UINT32_MAX) continue;
    uint32_t match = from[s->partner[i]].match;
    if (s->taken[match] == s->serial) continue;
    s->taken[match] = s->serial;
    s->size[match]++;
    to[i].match = match;
  }
  return true;
}

/* The windows of one step: all beside the one with most matches. */
static bool align_step(struct stepper *s, struct align_anchor *v, uint32_t n) {
  struct window best = {0, 0, 0};
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0, k; i < n; i = k) {
      struct window now = {.from = i};
      for (k = i; k < n && v[k].input == v[i].input; k++) now.alone += s->size[v[k].match] == 1;
      now.n = k - i;
      if (round == 0 && (now.n - now.alone > best.n - best.alone || (now.n - now.alone == best.n - best.alone && now.n > best.n)))
        best = now;
      if (round == 1 && now.alone && i != best.from && !lay_beside(s, v + best.from, best.n, v + i, now.n)) return false;
    }
  }
  return true;
}

static bool prepare_steps(struct stepper *s, uint32_t n) {
  struct arena *arena = &s->w->arena;
  size_t size = ((size_t)n + 2) * sizeof *s->size;
  s->size = arena_alloc(arena, size);
  s->taken = arena_alloc(arena, size);
  s->partner = arena_alloc(arena, size);
  s->a = arena_alloc(arena, LONGEST * sizeof *s->a);
  s->b = arena_alloc(arena, LONGEST * sizeof *s->b);
  if (!s->size || !s->taken || !s->partner || !s->a || !s->b) return false;
  memset(s->size, 0, size);
  memset(s->taken, 0, size);
  return true;
}

bool align_steps(struct align_work *w) {
  struct stepper s = {.w = w};
  struct align_anchor *v = w->p->anchors->v;
  uint32_t n = w->p->anchors->n;
  if (n == 0) return true;
  if (!prepare_steps(&s, n)) return false;
  for (uint32_t i = 0; i < n; i++) s.size[v[i].match]++;
  qsort(v, n, sizeof *v, by_step_and_input);
  for (uint32_t i = 0, k; i < n && v[i].counted && v[i].says & ALIGN_EQUAL; i = k) {
    for (k = i; k < n && v[k].counted && v[k].says & ALIGN_EQUAL && v[k].step == v[i].step;) k++;
    if (!align_step(&s, v + i, k - i)) return false;
  }
  return true;
}
