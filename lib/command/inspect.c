/* inspect.c - what a file is made of: what its format has counted, and its training steps. */
#include "format/format.h"
#include "op/steps.h"

struct tk_parts_impl {
  struct mem mem;
  struct arena keep;
};

static void count_steps(const struct tk_trace *t, struct tk_parts *p) {
  struct mem mem = {0};
  struct steps s;
  if (!steps_init(&s, t, &mem) || s.n_main == 0) {
    steps_free(&s);
    return;
  }
  p->n_steps = s.n_main;
  p->first_step = p->last_step = (uint64_t)s.v[s.main].number;
  for (uint32_t i = s.main; i < s.main + s.n_main; i++) {
    uint64_t number = (uint64_t)s.v[i].number;
    if (number < p->first_step) p->first_step = number;
    if (number > p->last_step) p->last_step = number;
  }
  steps_free(&s);
}

struct tk_parts *tk_parts_of(const struct tk_trace *t) {
  const struct format *format = t->format ? format_by_name(t->format) : NULL;
  struct mem mem = {0};
  struct tk_parts *p = mem_alloc(&mem, sizeof *p);
  struct tk_parts_impl *impl = mem_alloc(&mem, sizeof *impl);
  if (!p || !impl) {
    mem_free(&mem, p);
    mem_free(&mem, impl);
    return NULL;
  }
  *impl = (struct tk_parts_impl){.mem = mem};
  impl->keep.mem = &impl->mem;
  *p = (struct tk_parts){.impl = impl};
  if (format && format->parts) format->parts(t, p, &impl->keep);
  count_steps(t, p);
  if (!impl->mem.failed) return p;
  tk_parts_free(p);
  return NULL;
}

void tk_parts_free(struct tk_parts *p) {
  if (!p) return;
  struct mem mem = {.used = sizeof *p + sizeof *p->impl};
  arena_free(&p->impl->keep);
  mem_free(&mem, p->impl);
  mem_free(&mem, p);
}
