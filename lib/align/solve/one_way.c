/* one_way.c - matches one-way collectives by number or by position in a step, in the same way as the barriers next to them
 * (one_way.h). */
#include "one_way.h"
#include "base/order.h"

#include <stdlib.h>

/* Sets *shift to the number to add to the host's step numbers to get those of the timeline: the median over the pairs that
 * already match. Returns false if no pair has step numbers. */
static bool step_shift(const struct question *q, const struct hypothesis *y, double *room, int64_t *shift) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < q->view->n_b; i++) {
    const struct sight *a = y->partner[i] == ALIGN_NONE ? NULL : q->view->a[y->partner[i]], *b = q->view->b[i];
    if (a && a->stepped && b->stepped) room[n++] = (double)a->step - (double)b->step;
  }
  if (n == 0) return false;
  qsort(room, n, sizeof *room, order_doubles);
  *shift = (int64_t)room[n / 2];
  return true;
}

static uint64_t place_key(const struct sight *x, int64_t shift) {
  return hash_mix(hash_mix(hash_mix(x->label, (uint64_t)(x->step + shift)), x->nth), x->of);
}

bool one_way_match(const struct timeline *common, struct sight *v, uint32_t n_sights, const struct question *q,
                   const struct hypothesis *best, struct arena *arena) {
  struct map exact, place;
  double *room = arena_alloc(arena, ((size_t)q->view->n_b + 1) * sizeof *room);
  int64_t shift = 0;
  uint32_t *alike, n = timeline_alike(common, v, n_sights, arena, &alike);
  bool stepped = room && step_shift(q, best, room, &shift), ok = room && n < UINT32_MAX;
  map_init(&exact, common->mem);
  map_init(&place, common->mem);
  for (uint32_t i = 0; ok && i < n; i++) {
    const struct sight *a = &common->v[alike[i]];
    if (a->equal || a->vague) continue;
    if (a->exact) ok = map_put(&exact, a->exact, alike[i]) != NULL;
    else if (a->stepped) ok = map_put(&place, place_key(a, 0), alike[i]) != NULL;
  }
  for (uint32_t i = 0; ok && i < n_sights; i++) {
    if (v[i].equal || v[i].vague) continue;
    bool by_place = !v[i].exact && stepped && v[i].stepped;
    const uint32_t *at = v[i].exact ? map_get(&exact, v[i].exact) : by_place ? map_get(&place, place_key(&v[i], shift)) : NULL;
    if (at && common->v[*at].label == v[i].label) v[i].collective = *at;
  }
  map_free(&exact);
  map_free(&place);
  return ok;
}
