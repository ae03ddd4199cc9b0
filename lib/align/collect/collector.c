/* collector.c - functions shared by both collectors of anchors (collector.h). */
#include <string.h>

#include "collector.h"
#include "graph/kind_collective.h"

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

/* Finds a numeric arg. Some writers store all numbers as text. */
bool collect_number(const struct tk_trace *t, uint32_t args, const char *key, int64_t *out) {
  struct tk_arg arg;
  if (!tk_args_find(t, args, key, &arg)) return false;
  if (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) {
    *out = arg.i;
    return true;
  }
  if (arg.type != TK_ARG_STR) return false;
  const uint8_t *end;
  struct num n = num_scan((const uint8_t *)tk_string(t, arg.s, NULL), &end);
  return n.kind == NUM_INT && *end == 0 ? (*out = n.mant, true) : false;
}

static uint32_t collector_text_of(struct collector *c, const char *text, size_t n) {
  return c->out->described && n ? intern(&c->out->texts, text, n) : 0;
}

void collect_name(struct collector *c, struct align_anchor *a, const char *name) {
  size_t n;
  const char *head = kind_collective_head(name, &n);
  a->name = collector_text_of(c, head, n);
}
void collect_group(struct collector *c, struct align_anchor *a, const char *group) {
  a->group = collector_text_of(c, group, strlen(group));
}

struct align_anchor *collect_add(struct collector *c, const struct tk_event *e) {
  struct align_anchors *out = c->out;
  i128 start = ((i128)c->t->origin_ns + c->from->later_ns) * 1000 + e->ts, end = start + e->dur;
  if (!mem_grow(out->mem, (void **)&out->v, &out->cap, (uint64_t)out->n + 1, sizeof *out->v)) return NULL;
  out->v[out->n] = (struct align_anchor){.input = c->from->input, .says = ALIGN_BARRIER, .seq = -1, .bytes = -1};
  if (c->from->origins) out->v[out->n].device = (uint32_t)(c->from->origins[e->track].rank + 1);
  if (c->out->described) collect_name(c, &out->v[out->n], tk_string(c->t, c->t->classes[e->cls].name, NULL));
  out->v[out->n].start = (int64_t)(start / 1000);
  out->v[out->n].end = (int64_t)(end / 1000);
  return &out->v[out->n++];
}
