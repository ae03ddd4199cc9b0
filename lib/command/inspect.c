/* inspect.c - describes the contents of a file: format-specific properties, and training steps. */
#include "format/format.h"
#include "graph/steps.h"

#include <stdlib.h>
#include <string.h>

struct tk_inspection_impl {
  struct mem mem;
  struct arena keep;
};

static int by_start(const void *a, const void *b) {
  const struct tk_step *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

static const char *keep_name(struct tk_inspection_impl *impl, const struct tk_trace *t, const struct steps *s) {
  size_t n;
  const char *name = steps_name(s, t, &n);
  char *copy = name ? arena_alloc(&impl->keep, n + 1) : NULL;
  return copy ? memcpy(copy, name, n + 1) : NULL;
}

static void add_steps(struct tk_inspection *p, const struct steps *s) {
  p->n_steps = s->n_main;
  p->first_step = p->last_step = (uint64_t)s->v[s->main].number;
  for (uint32_t i = 0; i < s->n_main; i++) {
    const struct step *step = &s->v[s->main + i];
    const uint64_t number = (uint64_t)step->number;
    if (number < p->first_step) p->first_step = number;
    if (number > p->last_step) p->last_step = number;
    p->steps[i] = (struct tk_step){step->number, step->start, step->end};
  }
  qsort(p->steps, s->n_main, sizeof *p->steps, by_start);
}

static void find_steps(const struct tk_trace *t, struct tk_inspection *p, struct tk_inspection_impl *impl) {
  struct steps s;
  const bool ok = steps_init(&s, t, &impl->mem);
  if (ok && s.n_main) p->steps = arena_alloc(&impl->keep, (size_t)s.n_main * sizeof *p->steps);
  if (p->steps) add_steps(p, &s);
  if (p->steps) p->step_name = keep_name(impl, t, &s);
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
  find_steps(t, p, impl);
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
