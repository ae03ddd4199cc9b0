/* carry.c - see carry.h. */
#include "carry.h"

#include <string.h>

bool carry_open(struct carry *c, const struct tk_trace *first, struct tk_err *err) {
  for (unsigned i = 0; c && i < c->n; i++)
    if (!c->of[i].sink->open(c->of[i].sink, first, err)) return false;
  return true;
}

bool carry_write(struct carry *c, const struct sink *of, const struct tk_trace *t, struct tk_err *err) {
  for (unsigned i = 0; c && i < c->n; i++) {
    struct sink *s = c->of[i].sink;
    s->graphs = of->graphs;
    s->ordinal = of->ordinal;
    s->first_row = of->first_row;
    s->rows = of->rows;
    if (!s->write(s, t, err)) return false;
  }
  return true;
}

bool carry_close(struct carry *c, const struct tk_trace *first, struct tk_saved *saved, struct tk_err *err) {
  for (unsigned i = 0; c && i < c->n; i++) {
    struct sink *s = c->of[i].sink;
    if (!s->close(s, first, NULL, err)) return false;
    saved->lost[TK_LOSS_PASSTHROUGH] += s->saved.lost[TK_LOSS_PASSTHROUGH];
  }
  return true;
}

const uint8_t *carry_take(struct carry *c, unsigned i, const char **name, size_t *n) {
  const uint8_t *p;
  if (!c || i >= c->n) return NULL;
  *name = c->of[i].name;
  p = out_memory_take(&c->of[i].out, n);
  return p ? p : (const uint8_t *)"";
}

void carry_found(struct tk_trace *t, tk_id name, uint64_t at, uint64_t size) {
  *trace_add_meta(t) = (struct tk_meta){.key = name, .at = at, .size = size, .after = true, .origin = tk_string(t, name, NULL)};
}

bool carry_is_block(const struct tk_trace *t, const struct tk_meta *m) {
  return m->origin && strcmp(m->origin, tk_string(t, m->key, NULL)) == 0;
}
