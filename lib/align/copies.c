/* copies.c - finds copies of inputs by the durations of their collectives, which differ between any two ranks (copies.h). */
#include "copies.h"

#include <math.h>
#include <string.h>

#include "base/map.h"

enum { FEWEST = 4 };

/* The anchors of one input. */
struct own {
  const struct align_anchor *v;
  uint32_t n;
};

static struct own anchors_of(const struct align_anchors *a, uint32_t input) {
  uint32_t low = 0, high = a->n, from;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (a->v[middle].input < input) low = middle + 1;
    else high = middle;
  }
  for (from = low; low < a->n && a->v[low].input == input;) low++;
  return (struct own){low > from ? a->v + from : NULL, low - from};
}

static bool is_alike(const struct align_anchor *a, const struct align_anchor *b, int64_t later) {
  return a->label == b->label && a->exact == b->exact && a->end - a->start == b->end - b->start && b->end - a->end == later;
}

/* True if the two inputs contain the same collectives; *later becomes the time of `b` minus the time of `a`, in ns. Compares from the
 * first collective that both contain, because a copy may lack some at its start or end. */
static bool is_copy(const struct own *a, const struct own *b, int64_t *later) {
  uint32_t i = 0, k = 0;
  if (a->n < FEWEST || b->n < FEWEST) return false;
  while (i < a->n && (a->v[i].exact != b->v[0].exact || a->v[i].label != b->v[0].label)) i++;
  if (i == a->n)
    for (i = 0; k < b->n && (b->v[k].exact != a->v[0].exact || b->v[k].label != a->v[0].label);) k++;
  if (k == b->n) return false;
  uint32_t n = a->n - i < b->n - k ? a->n - i : b->n - k;
  *later = b->v[k].end - a->v[i].end;
  for (uint32_t m = 0; m < n; m++)
    if (!is_alike(&a->v[i + m], &b->v[k + m], *later)) return false;
  return n >= FEWEST;
}

static uint64_t key_of_host(const struct align_input *i) { return hash_mix(hash_bytes(i->host, strlen(i->host)), 71); }
static uint64_t key_of_rank(const struct align_input *i) { return hash_mix((uint64_t)i->rank, 72); }

static bool may_be_copy(const struct align_input *i) { return i->read && i->stated && !i->merged && !i->given; }

/* Marks one of two equal inputs as the copy: the input whose host has fewer inputs, or otherwise the second one. */
static void take_pair(struct align_input *inputs, const uint32_t pair[2], const uint32_t hosts[2], int64_t later) {
  const bool first_is_copy = hosts[1] > hosts[0];
  struct align_input *copy = &inputs[pair[first_is_copy ? 0 : 1]];
  copy->copy_of = pair[first_is_copy ? 1 : 0] + 1;
  copy->copy_ns = first_is_copy ? -later : later;
}

bool copies_find(struct align_input *inputs, uint32_t n, const struct align_anchors *anchors) {
  struct map seen;
  bool ok = true;
  map_init(&seen, anchors->mem);
  for (uint32_t i = 0; ok && i < n; i++) {
    uint32_t *count = may_be_copy(&inputs[i]) ? map_put(&seen, key_of_host(&inputs[i]), 0) : NULL;
    ok = count || !may_be_copy(&inputs[i]);
    if (count && *inputs[i].host) ++*count;
  }
  for (uint32_t i = 0; ok && i < n; i++) {
    int64_t later = 0;
    if (!may_be_copy(&inputs[i])) continue;
    uint32_t *first = map_put(&seen, key_of_rank(&inputs[i]), i);
    if (!(ok = first != NULL) || *first == i) continue;
    const struct own a = anchors_of(anchors, *first), b = anchors_of(anchors, i);
    if (!is_copy(&a, &b, &later)) continue;
    if (later == 0 && strcmp(inputs[*first].host, inputs[i].host) == 0) continue; /* a host has only one clock */
    const uint32_t pair[2] = {*first, i};
    const uint32_t hosts[2] = {*map_get(&seen, key_of_host(&inputs[*first])), *map_get(&seen, key_of_host(&inputs[i]))};
    take_pair(inputs, pair, hosts, later);
    if (inputs[*first].copy_of) *first = i;
  }
  map_free(&seen);
  return ok;
}

/* ---- results ---- */

static bool shift_stretches(struct align_host *o, struct align_solution *s, int64_t by) {
  struct align_stretch *v = arena_alloc(&s->arena, ((size_t)o->n_stretches + 1) * sizeof *v);
  struct align_gap *g = arena_alloc(&s->arena, ((size_t)o->n_stretches + 1) * sizeof *g);
  if (!v || !g) return false;
  for (uint32_t i = 0; i < o->n_stretches; i++) {
    v[i] = o->stretches[i];
    v[i].from_ns += by;
    v[i].to_ns += by;
    if (i + 1 == o->n_stretches) break;
    g[i] = o->gaps[i];
    g[i].from_ns += by;
    g[i].to_ns += by;
  }
  o->stretches = v;
  o->gaps = g;
  return true;
}

bool copies_place(const struct align_problem *p, struct align_solution *s, const struct align_input *inputs) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < p->n_inputs; i++) {
    if (!inputs[i].copy_of) continue;
    const struct align_host *of = &s->hosts[p->host_of[inputs[i].copy_of - 1]];
    struct align_host *o = &s->hosts[p->host_of[i]];
    *o = *of;
    if (o->state == ALIGN_REFERENCE) o->state = ALIGN_GOOD;
    o->map.pivot_ns += inputs[i].copy_ns;
    o->map.offset_ns += inputs[i].copy_ns;
    ok = shift_stretches(o, s, inputs[i].copy_ns);
  }
  return ok;
}
