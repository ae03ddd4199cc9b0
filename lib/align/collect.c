/* collect.c - the collectives of one input as anchors: a few bytes for each, all that is kept of an input between two passes. */
#include <stdlib.h>
#include <string.h>

#include "collect.h"

enum { MOST_ANCHORS = 4096 }; /* of an input: more make nothing better */

uint64_t align_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
  x ^= x >> 32;
  return x ? x : 1;
}

uint64_t collect_hash(const struct tk_trace *t, tk_id s) {
  size_t n;
  const char *p = tk_string(t, s, &n);
  return hash_bytes(p, n);
}

const char *collect_text(const struct tk_trace *t, uint32_t args, const char *key, tk_id *id) {
  struct tk_arg arg;
  *id = 0;
  if (!tk_args_find(t, args, key, &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) return NULL;
  return tk_string(t, *id = arg.s, NULL);
}

/* Some writers make text of all numbers. */
bool collect_number(const struct tk_trace *t, uint32_t args, const char *key, int64_t *out) {
  struct tk_arg arg;
  if (!tk_args_find(t, args, key, &arg)) return false;
  if (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) return *out = arg.i, true;
  if (arg.type != TK_ARG_STR) return false;
  const uint8_t *end;
  struct num n = num_scan((const uint8_t *)tk_string(t, arg.s, NULL), &end);
  return n.kind == NUM_INT && *end == 0 ? (*out = n.mant, true) : false;
}

struct align_anchor *collect_add(struct collector *c, const struct tk_event *e) {
  struct align_anchors *out = c->out;
  i128 start = ((i128)c->t->origin_ns + c->from->later_ns) * 1000 + e->ts, end = start + e->dur;
  if (!mem_grow(out->mem, (void **)&out->v, &out->cap, (uint64_t)out->n + 1, sizeof *out->v)) return NULL;
  out->v[out->n] = (struct align_anchor){.input = c->from->input, .says = ALIGN_BARRIER};
  out->v[out->n].start = (int64_t)(start / 1000);
  out->v[out->n].end = (int64_t)(end / 1000);
  return &out->v[out->n++];
}

/* Of very many collectives those are kept whose keys end in zeros: the same ones on every rank, whatever else each has.  How many zeros
 * may differ, for the fewer lie among the more.  Of a program that runs very often, its collectives are thinned: all its executions
 * stay. */
static void thin_out(struct collector *c) {
  struct align_anchor *v = c->out->v;
  for (uint32_t i = c->first; i < c->out->n; i++)
    if (!v[i].exact && !v[i].module) return;
  for (uint64_t mask = 1; c->out->n - c->first > MOST_ANCHORS && mask; mask = mask << 1 | 1) {
    uint32_t n = c->first;
    for (uint32_t i = c->first; i < c->out->n; i++) n += !((v[i].exact ? v[i].exact : v[i].label) & mask);
    if (n == c->first) return;
    n = c->first;
    for (uint32_t i = c->first; i < c->out->n; i++)
      if (!((v[i].exact ? v[i].exact : v[i].label) & mask)) v[n++] = v[i];
    c->out->n = n;
  }
}

bool align_collect(struct align_anchors *a, const struct tk_trace *t, const struct align_source *from) {
  struct collector c = {.out = a, .t = t, .from = from, .arena = {.mem = a->mem}, .first = a->n};
  map_init(&c.groups, a->mem);
  bool ok = collect_kernels(&c) && (from->marker || collect_planes(&c));
  if (ok) thin_out(&c);
  map_free(&c.groups);
  steps_free(&c.steps);
  mem_free(a->mem, c.group);
  arena_free(&c.arena);
  return ok;
}

void align_anchors_free(struct align_anchors *a) {
  mem_free(a->mem, a->v);
  *a = (struct align_anchors){0};
}
