/* inspect.c - describes the contents of a file: properties that its format counts, and training steps. */
#include "format/format.h"
#include "graph/steps.h"

struct tk_inspection_impl {
  struct mem mem;
  struct arena keep;
};

static void count_steps(const struct tk_trace *t, struct tk_inspection *p, struct mem *mem) {
  struct steps s;
  if (!steps_init(&s, t, mem) || s.n_main == 0) {
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

struct tk_inspection *tk_inspect(const struct tk_trace *t) {
  if (!trace_is_sealed(t, NULL)) return NULL;
  const struct format *format = t->format ? format_by_name(t->format) : NULL;
  struct mem mem = {0};
  struct tk_inspection *p = mem_alloc(&mem, sizeof *p);
  struct tk_inspection_impl *impl = mem_alloc(&mem, sizeof *impl);
  if (!p || !impl) {
    mem_free(&mem, p);
    mem_free(&mem, impl);
    return NULL;
  }
  *impl = (struct tk_inspection_impl){.mem = mem};
  impl->keep.mem = &impl->mem;
  *p = (struct tk_inspection){.impl = impl};
  if (format && format->inspect) format->inspect(t, p, &impl->keep);
  count_steps(t, p, &impl->mem);
  if (!impl->mem.failed) return p;
  tk_inspection_free(p);
  return NULL;
}

void tk_inspection_free(struct tk_inspection *p) {
  if (!p) return;
  struct mem mem = {.used = sizeof *p + sizeof *p->impl};
  arena_free(&p->impl->keep);
  mem_free(&mem, p->impl);
  mem_free(&mem, p);
}
