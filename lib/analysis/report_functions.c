/* report_functions.c - the functions in stack samples, with their self and total weight as in top (weights.h). Traces whose samples
 * have different units can be in one report, so there is a row for each function and unit. Only samples determine the unit of a trace:
 * in contrast to top, spans do not exclude samples that do not count time. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "graph/stack.h"
#include "weights.h"

/* State while the samples of a trace are added. */
struct functions {
  struct reporter *p;
  struct weight_unit unit;
  struct weights weights;
  uint32_t unit_text;   /* text id; 0 = time */
  uint32_t *row_of;     /* by frame: 1 + the row of its function */
  uint32_t *name_of;    /* by frame: text id of its name */
};

/* Returns 1 + the row of a function; 0 if memory runs out. */
static uint32_t functions_row(struct functions *f, uint32_t name) {
  struct tk_report_impl *impl = f->p->impl;
  uint32_t *slot = name ? map_put(&impl->function_of, (uint64_t)name << 32 | f->unit_text, 0) : NULL;
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&impl->mem, (void **)&impl->functions, &impl->cap_functions, (uint64_t)impl->n_functions + 1, sizeof *impl->functions))
    return 0;
  impl->functions[impl->n_functions] = (struct report_function){.name = name, .unit = f->unit_text};
  return *slot = ++impl->n_functions;
}

static bool name_frames(struct functions *f) {
  const struct tk_trace *t = f->p->t;
  size_t n;
  f->row_of = mem_zeros(f->p->mem, (uint64_t)t->n_frames + 1, sizeof *f->row_of);
  f->name_of = f->row_of ? mem_zeros(f->p->mem, (uint64_t)t->n_frames + 1, sizeof *f->name_of) : NULL;
  for (tk_id i = 1; f->name_of && i <= t->n_frames; i++) {
    const char *name = tk_string(t, t->frames[i].name, &n);
    f->name_of[i] = report_name(f->p->impl, name, n);
    f->row_of[i] = functions_row(f, f->name_of[i]);
    if (!f->row_of[i]) return false;
  }
  return f->name_of != NULL;
}

static void take_stack(void *arg, uint32_t row, const struct stack_sum *sum, bool is_outer) {
  const struct functions *f = arg;
  struct report_function *to = &f->p->impl->functions[row - 1];
  to->self += sum->self;
  if (!is_outer) return;
  to->total += sum->total;
  to->samples += sum->n_total;
}

/* Adds a sample without a stack to the row of its own name. */
static bool add_bare(struct functions *f, const struct tk_event *e, i128 amount) {
  const uint32_t row = functions_row(f, report_class_name(f->p, e->cls));
  if (!row) return false;
  struct report_function *to = &f->p->impl->functions[row - 1];
  to->self += amount;
  to->total += amount;
  to->samples++;
  return true;
}

static bool is_sampled(const struct reporter *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  return e->kind == TK_EVENT_SAMPLE && scope_holds(&p->scope, e) && match_event(&p->match, event);
}

static bool add_samples(struct functions *f) {
  const struct tk_trace *t = f->p->t;
  bool ok = true;
  i128 amount;
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    if (!is_sampled(f->p, i) || !weights_of(&f->unit, t, &t->events[i], &amount)) continue;
    const tk_id stack = t->classes[t->events[i].cls].stack;
    f->p->impl->samples++;
    if (stack) weights_add(&f->weights, stack, amount);
    else ok = add_bare(f, &t->events[i], amount);
  }
  f->p->impl->unweighed += f->unit.n_other;
  return ok && weights_each(&f->weights, t, f->row_of, f->p->impl->n_functions, take_stack, f) &&
         report_flames_samples(f->p, &f->weights, f->name_of, f->unit_text);
}

bool report_functions_add(struct reporter *p) {
  struct functions f = {.p = p};
  uint64_t n = 0;
  if (!stack_has_samples(p->t)) return true;
  for (tk_id i = 1; i <= p->t->n_events; i++) {
    if (!is_sampled(p, i)) continue;
    weights_see(&f.unit, p->t, &p->t->events[i]);
    n++;
  }
  if (!n) return true;
  const char *unit = weights_unit(&f.unit, p->t);
  f.unit_text = unit ? intern(&p->impl->texts, unit, strlen(unit)) : 0;
  const bool ok = weights_init(&f.weights, p->t, p->mem) && name_frames(&f) && add_samples(&f);
  weights_free(&f.weights);
  mem_free(p->mem, f.row_of);
  mem_free(p->mem, f.name_of);
  return ok;
}

/* ---- the table ---- */

/* Orders rows by unit, times first; then by self weight, by total weight and by name. */
static int by_weight(const void *p, const void *q) {
  const struct report_function *a = p, *b = q;
  if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
  if (a->self != b->self) return a->self > b->self ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

/* Sums the self weights of the rows with the unit of row i, which is the first of them. */
static i128 sum_of_unit(const struct tk_report_impl *impl, uint32_t i) {
  const uint32_t unit = impl->functions[i].unit;
  i128 sum = 0;
  for (; i < impl->n_functions && impl->functions[i].unit == unit; i++) sum += impl->functions[i].self;
  return sum;
}

bool report_functions_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  i128 sum = 0;
  r->functions = mem_array(&impl->mem, (uint64_t)impl->n_functions + 1, sizeof *r->functions);
  if (!r->functions) return false;
  if (impl->n_functions) qsort(impl->functions, impl->n_functions, sizeof *impl->functions, by_weight);
  for (uint32_t i = 0; i < impl->n_functions; i++) {
    const struct report_function *f = &impl->functions[i];
    const struct intern_str *name = &impl->texts.strs[f->name];
    if (i == 0 || f->unit != f[-1].unit) sum = sum_of_unit(impl, i);
    if (!f->samples) continue;
    r->functions[r->n_functions++] = (struct tk_report_function){
        .name = (const char *)name->bytes, .name_len = name->len,
        .unit = f->unit ? (const char *)impl->texts.strs[f->unit].bytes : "", .samples = f->samples,
        .self = report_total(f->self), .total = report_total(f->total),
        .self_of_sum = sum > 0 ? i128_double(f->self) / i128_double(sum) : 0,
        .total_of_sum = sum > 0 ? i128_double(f->total) / i128_double(sum) : 0};
  }
  r->samples = impl->samples;
  return true;
}
