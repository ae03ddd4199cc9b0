/* collect.c - extracts the collectives of one input as anchors. An anchor takes a few bytes, and a merge keeps only the anchors
 * of an input between its two passes. */
#include "collector.h"
#include "xplane.h"
#include "kineto.h"

enum { MOST_ANCHORS = 4096 }; /* per input; more anchors do not improve the result */

static uint64_t collect_key_of(const struct align_anchor *v) { return v->exact ? v->exact : v->label; }

/* Keeps only collectives whose keys end in zero bits, so that all ranks keep the same collectives, whatever else each rank recorded.
 * Ranks may require different numbers of zero bits: a rank that requires fewer keeps all collectives that a stricter rank keeps. In a
 * program that runs very often, this removes single collectives of each execution, not whole executions. */
void align_thin_out(struct align_anchors *a, uint32_t first, uint32_t most) {
  struct align_anchor *v = a->v;
  for (uint32_t i = first; i < a->n; i++)
    if (!v[i].exact && !v[i].module) return;
  for (uint64_t mask = 1; a->n - first > most && mask; mask = mask << 1 | 1) {
    uint32_t n = first;
    for (uint32_t i = first; i < a->n; i++) n += !(collect_key_of(&v[i]) & mask);
    if (n == first) return;
    n = first;
    for (uint32_t i = first; i < a->n; i++)
      if (!(collect_key_of(&v[i]) & mask)) v[n++] = v[i];
    a->n = n;
  }
}

void align_anchors_init(struct align_anchors *a, struct mem *mem) {
  *a = (struct align_anchors){.mem = mem};
  intern_init(&a->texts, mem);
}

bool align_collect(struct align_anchors *a, const struct tk_trace *t, const struct align_source *from) {
  struct collector c = {.out = a, .t = t, .from = from, .arena = {.mem = a->mem}, .first = a->n};
  map_init(&c.groups, a->mem);
  bool ok = collect_kernels(&c) && (from->marker || collect_planes(&c));
  if (ok && !a->all) align_thin_out(a, c.first, from->most ? from->most : MOST_ANCHORS);
  map_free(&c.groups);
  steps_free(&c.steps);
  kinds_free(&c.kinds);
  launches_free(&c.launches);
  mem_free(a->mem, c.group);
  arena_free(&c.arena);
  return ok;
}

void align_anchors_free(struct align_anchors *a) {
  if (a->texts.mem) intern_free(&a->texts);
  mem_free(a->mem, a->v);
  *a = (struct align_anchors){0};
}
