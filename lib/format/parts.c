/* parts.c - see parts.h. */
#include "parts.h"

#include <stdlib.h>

enum { PARTS_MOST = 4096 }; /* more processes than a node runs; with more, a hostile file would make every search long */

struct parts_item *parts_find(const struct parts *p, int64_t process) {
  for (uint32_t i = p->n; i-- > 0;)
    if (p->v[i].process == process) return &p->v[i];
  return NULL;
}

void parts_use(struct parts *p, int64_t process, int64_t device) {
  struct parts_item *found = p->n && p->v[p->n - 1].process == process ? &p->v[p->n - 1] : parts_find(p, process);
  if (found && device < found->device) found->device = device;
  if (found || p->n == PARTS_MOST || !mem_grow(p->mem, (void **)&p->v, &p->cap, (uint64_t)p->n + 1, sizeof *p->v)) return;
  p->v[p->n++] = (struct parts_item){.process = process, .rank = -1, .device = device};
}

static int by_rank(const void *pa, const void *pb) {
  const struct parts_item *a = pa, *b = pb;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->device != b->device) return a->device < b->device ? -1 : 1;
  return (a->process > b->process) - (a->process < b->process);
}

void parts_sort(struct parts *p) {
  if (!p->n) return;
  qsort(p->v, p->n, sizeof *p->v, by_rank);
  bool sound = p->v[0].rank >= 0;
  for (uint32_t i = 1; i < p->n; i++) sound = sound && p->v[i].rank != p->v[i - 1].rank;
  if (sound) return;
  p->rank_from = NULL;
  for (uint32_t i = 0; i < p->n; i++) p->v[i].rank = -1;
  qsort(p->v, p->n, sizeof *p->v, by_rank);
}

void parts_free(struct parts *p) {
  mem_free(p->mem, p->v);
  p->v = NULL;
  p->n = p->cap = 0;
}
