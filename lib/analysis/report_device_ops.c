/* report_device_ops.c - device time by operator: the operator of a framework that launched the work, or the instruction of XLA that
 * the work is, as in `top --by op` (report.h). */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "graph/args.h"

/* ---- a trace ---- */

bool report_device_ops_begin(struct reporter *p) {
  if (!p->works.n) return true;
  p->hlo_category = report_key_of(p->t, "hlo_category");
  p->op_seen = mem_zeros(p->mem, (uint64_t)p->t->n_events + 1, sizeof *p->op_seen);
  return p->op_seen && around_init(&p->around, AROUND_OP, &p->match.kinds, &p->match.steps, p->origins, p->mem);
}

void report_device_ops_end(struct reporter *p) {
  around_free(&p->around);
  mem_free(p->mem, p->op_seen);
}

static struct report_device_op *device_op_row(struct tk_report_impl *impl, uint32_t name) {
  uint32_t *slot = map_put(&impl->device_op_of, name, 0);
  if (!slot) return NULL;
  if (*slot) return &impl->device_ops[*slot - 1];
  if (!mem_grow(&impl->mem, (void **)&impl->device_ops, &impl->cap_device_ops, (uint64_t)impl->n_device_ops + 1,
                sizeof *impl->device_ops))
    return NULL;
  impl->device_ops[impl->n_device_ops] = (struct report_device_op){.name = name};
  *slot = ++impl->n_device_ops;
  return &impl->device_ops[*slot - 1];
}

/* Returns the category of HLO that XLA states for a piece of work; NULL = none. */
static const char *hlo_category_of(const struct reporter *p, const struct work *w) {
  struct tk_arg arg;
  if (!p->hlo_category || !args_of_event(p->t, &p->t->events[w->event], p->hlo_category, &arg)) return NULL;
  return arg.type == TK_ARG_STR || arg.type == TK_ARG_REF ? tk_string(p->t, arg.s, NULL) : NULL;
}

static const char *class_of(const struct reporter *p, const struct work *w) {
  if (w->class == WORK_COMMUNICATION) return "collective";
  if (w->class != WORK_COMPUTE) return w->class == WORK_COPY ? "copy" : "fill";
  return kernel_classes_word(work_classes_of_kernel(&p->work_classes, w->event));
}

/* Adds the time to the category of an operator. Only the first few categories are distinguished. */
static void add_category(struct report_device_op *op, uint32_t category, tk_time time) {
  uint32_t i = 0;
  while (i + 1 < DEVICE_OP_CATEGORIES && op->categories[i].text && op->categories[i].text != category) i++;
  if (!op->categories[i].text) op->categories[i].text = category;
  if (op->categories[i].text == category) op->categories[i].time += time;
}

bool report_device_ops_count(struct reporter *p, const struct work *w, tk_time time) {
  size_t n;
  if (!p->op_seen || w->beside) return true;
  const char *text = around_text(&p->around, w->event, &n), *hlo = hlo_category_of(p, w);
  const unsigned kind_of = kinds_of(&p->match.kinds, &p->t->events[w->event]);
  const bool is_instruction = !text && kind_of & KIND_OP; /* on a TPU, the work has the name of the instruction */
  const uint32_t name = text ? report_name(p->impl, text, n) : is_instruction ? report_class_name(p, p->t->events[w->event].cls) : 0;
  const char *category = hlo && *hlo ? hlo : class_of(p, w);
  const uint32_t kind = intern(&p->impl->texts, category, strlen(category));
  struct report_device_op *op = (name || (!text && !is_instruction)) && kind ? device_op_row(p->impl, name) : NULL;
  if (!op) return false;
  const tk_id region = is_instruction ? w->event : p->around.region[w->event];
  op->calls += region && !p->op_seen[region];
  if (region) p->op_seen[region] = true;
  op->work++;
  op->device += time;
  add_category(op, kind, time);
  return true;
}

/* ---- the table ---- */

static int by_device(const void *p, const void *q) {
  const struct report_device_op *a = p, *b = q;
  if (a->device != b->device) return a->device > b->device ? -1 : 1;
  return (a->name > b->name) - (a->name < b->name);
}

static uint32_t main_category(const struct report_device_op *op) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < DEVICE_OP_CATEGORIES; i++)
    if (op->categories[i].time > op->categories[best].time) best = i;
  return op->categories[best].text;
}

/* Returns the row of the host's operators with this name; NULL if there is none. */
static const struct report_op *host_op(const struct tk_report_impl *impl, uint32_t name) {
  const uint32_t *row = name ? map_get(&impl->op_of, (uint64_t)name << 8 | HOST_OP) : NULL;
  return row && *row ? &impl->ops[*row - 1] : NULL;
}

bool report_device_ops_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  i128 sum = 0;
  r->device_ops = mem_array(&impl->mem, (uint64_t)impl->n_device_ops + 1, sizeof *r->device_ops);
  if (!r->device_ops) return false;
  if (impl->n_device_ops) qsort(impl->device_ops, impl->n_device_ops, sizeof *impl->device_ops, by_device);
  for (uint32_t i = 0; i < impl->n_device_ops; i++) sum += impl->device_ops[i].device;
  for (uint32_t i = 0; i < impl->n_device_ops; i++) {
    const struct report_device_op *op = &impl->device_ops[i];
    const struct report_op *host = host_op(impl, op->name);
    const struct intern_str *name = op->name ? &impl->texts.strs[op->name] : NULL;
    r->device_ops[r->n_device_ops++] = (struct tk_report_device_op){
        .name = name ? (const char *)name->bytes : NULL, .name_len = name ? name->len : 0,
        .category = (const char *)impl->texts.strs[main_category(op)].bytes, .calls = op->calls, .work = op->work,
        .device = report_total(op->device), .of_work = sum > 0 ? i128_double(op->device) / i128_double(sum) : 0,
        .has_host = host != NULL, .host_self = report_total(host ? host->self : 0), .host_count = host ? host->count : 0};
  }
  return true;
}
