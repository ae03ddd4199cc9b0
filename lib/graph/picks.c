/* picks.c - see picks.h. */
#include "picks.h"

#include "args.h"

static struct pick *of_shape(const struct picks *p, uint32_t shape) { return p->of + (size_t)shape * (p->n + 1); }

static void find_places(const struct picks *p, uint32_t shape, const tk_id *keys) {
  static const struct pick END = {UINT32_MAX, 0};
  const struct tk_arg_shape *s = shape ? p->t->store->shapes[shape] : NULL;
  struct pick *to = of_shape(p, shape);
  for (uint32_t at = 0; s && at < s->n; at++)
    for (uint32_t k = 0; k < p->n; k++)
      if (s->fields[at].key == keys[k]) *to++ = (struct pick){at, k};
  *to = END;
}

bool picks_init(struct picks *p, const struct tk_trace *t, const tk_id *keys, uint32_t n, struct mem *mem) {
  const uint32_t n_shapes = t->store->n_shapes;
  *p = (struct picks){.t = t, .mem = mem, .n = n};
  p->of = mem_array(mem, ((uint64_t)n_shapes + 1) * (n + 1), sizeof *p->of);
  for (uint32_t i = 0; p->of && i <= n_shapes; i++) find_places(p, i, keys);
  return p->of != NULL;
}

void picks_free(struct picks *p) {
  if (p->mem) mem_free(p->mem, p->of);
  *p = (struct picks){0};
}

/* Reads the chosen args of a packed record, except those in `known`. */
static uint32_t pick_from(const struct picks *p, uint32_t record, uint32_t known, struct tk_arg *args) {
  struct tk_args it = tk_args_of(p->t, record);
  if (!it.shape) return known;
  for (const struct pick *k = of_shape(p, it.shape->id); k->field != UINT32_MAX; k++) {
    args_skip_to(&it, k->field);
    struct tk_arg arg;
    tk_args_next(&it, &arg);
    if (known & 1u << k->key) continue;
    args[k->key] = arg;
    known |= 1u << k->key;
  }
  return known;
}

uint32_t picks_of(const struct picks *p, const struct tk_event *e, struct tk_arg *args) {
  const uint32_t known = pick_from(p, e->args, 0, args), shared = p->t->classes[e->cls].args;
  return shared ? pick_from(p, shared, known, args) : known;
}
