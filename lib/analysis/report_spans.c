/* report_spans.c - tables of host spans: self times by name, and annotations as a tree (report.h). */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "op/pending.h"

/* ---- by name ---- */

static const char *word_of(uint8_t class) {
  static const char *const words[HOST_CLASSES] = {"annotation", "python", "system", "operator", "runtime", "launch", "sync", "wait",
                                                  "checkpoint", "garbage collection", "input", "compile"};
  return words[class];
}

/* Returns the index of the row for host spans of class `class` with the name of `cls`; UINT32_MAX if memory runs out. */
static uint32_t op_row(struct reporter *p, tk_id cls, uint8_t class) {
  struct tk_report_impl *impl = p->impl;
  const uint32_t known = p->spans.row_of[cls];
  if (known && impl->ops[known - 1].class == class) return known - 1;
  const uint32_t id = report_class_name(p, cls);
  uint32_t *slot = id ? map_put(&impl->op_of, (uint64_t)id << 8 | class, 0) : NULL;
  if (!slot) return UINT32_MAX;
  if (!*slot) {
    if (!mem_grow(&impl->mem, (void **)&impl->ops, &impl->cap_ops, (uint64_t)impl->n_ops + 1, sizeof *impl->ops)) return UINT32_MAX;
    impl->ops[impl->n_ops] = (struct report_op){.name = id, .class = class, .min = INT64_MAX};
    *slot = ++impl->n_ops;
  }
  p->spans.row_of[cls] = *slot;
  return *slot - 1;
}

/* Counts the operators with a total self time above 50 ms on a host. */
static void count_long(struct report_spans *s, struct report_op *op, uint32_t host, tk_time self) {
  static const tk_time LONG_SELF = 50000000000;
  if (op->host != host) op->of_host = 0;
  op->host = host;
  const bool was_long = op->of_host > LONG_SELF;
  op->of_host += self;
  s->sums->long_ops += op->class == HOST_OP && !was_long && op->of_host > LONG_SELF;
}

/* True if the time is in a step. Tries the result of the last search first. */
static bool is_in_step(struct report_spans *s, tk_time at) {
  if (s->step && s->step->start <= at && at < s->step->end) return true;
  const struct step *step = steps_runs_at(&s->steps, at);
  if (step) s->step = step;
  return step != NULL;
}

/* Callback for each span: adds the span and its self time to its row. */
static void count_op(void *arg, tk_id event, tk_time self) {
  struct reporter *p = arg;
  const struct tk_event *e = &p->t->events[event];
  const unsigned kind = kinds_of(&p->match.kinds, e);
  const uint8_t class = kind & KIND_DEVICE ? HOST_NOTHING : (uint8_t)report_class_of(p, event, kind);
  if (class == HOST_NOTHING || !scope_holds(&p->scope, e)) return;
  const uint32_t row = op_row(p, e->cls, class);
  if (row == UINT32_MAX) return;
  struct report_op *op = &p->impl->ops[row];
  const tk_time dur = measure_part(&p->scope.window, e->ts, e->ts + e->dur).dur;
  op->count++;
  op->total += dur;
  op->self += self;
  count_long(&p->spans, op, p->impl->n_hosts, self);
  if (dur < op->min) op->min = dur;
  if (dur > op->max) op->max = dur;
  if (is_in_step(&p->spans, e->ts)) op->in_steps += self;
}

/* ---- annotations ---- */

/* Returns the text id of an annotation. All steps have the same text, which does not contain their numbers. */
static uint32_t annotation_text(struct reporter *p, const struct tk_event *e, unsigned kind) {
  size_t n;
  const char *name = tk_string(p->t, p->t->classes[e->cls].name, &n);
  if (!(kind & KIND_STEP)) return report_class_name(p, e->cls);
  if (strspn(name, "0123456789") == n) return intern(&p->impl->texts, "(step)", 6);
  return fold_name(&p->spans.text, name, n) ? intern(&p->impl->texts, p->spans.text.data, p->spans.text.len) : 0;
}

/* Returns the number, from 1, of the node with this text below the node `parent`, and adds the node if it is new; 0 if
 * memory runs out. */
static uint32_t annotation_node(struct reporter *p, uint32_t parent, uint32_t text) {
  struct tk_report_impl *impl = p->impl;
  uint32_t *slot = text ? map_put(&impl->node_of, (uint64_t)parent << 32 | text, 0) : NULL;
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&impl->mem, (void **)&impl->nodes, &impl->cap_nodes, (uint64_t)impl->n_nodes + 1, sizeof *impl->nodes)) return 0;
  const uint32_t depth = parent ? impl->nodes[parent - 1].depth + 1 : 0;
  impl->nodes[impl->n_nodes] = (struct report_node){.name = text, .parent = parent, .depth = depth};
  *slot = ++impl->n_nodes;
  return *slot;
}

static bool count_annotation(struct reporter *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  const unsigned kind = kinds_of(&p->match.kinds, e);
  const bool marks = kind & (KIND_ANNOTATION | KIND_STEP | KIND_MODULE) && !(kind & KIND_DEVICE);
  const bool selected = marks && is_timed(e) && scope_holds(&p->scope, e);
  const struct within_span around = within_find(&p->spans.within, e);
  if (!selected) return within_add(&p->spans.within, p->t, event, around, 0);
  const uint32_t node = annotation_node(p, around.node, annotation_text(p, e, kind));
  if (!node) return false;
  const tk_time dur = measure_part(&p->scope.window, e->ts, e->ts + e->dur).dur;
  const tk_time own = measure_part(&p->scope.window, e->ts, pending_end(&p->match.kinds, event)).dur;
  p->impl->nodes[node - 1].count++;
  p->impl->nodes[node - 1].total += dur;
  p->impl->nodes[node - 1].inner += dur - own;
  if (around.node) p->impl->nodes[around.node - 1].inner += own;
  return pending_add(&p->spans.within, &p->match.kinds, event, around, node);
}

/* ---- a thread ---- */

static bool report_spans_open(struct reporter *p) {
  struct report_spans *s = &p->spans;
  if (s->row_of) return true;
  s->row_of = mem_array(p->mem, (uint64_t)p->t->n_classes + 1, sizeof *s->row_of);
  s->selves = (struct selves){.mem = p->mem, .scope = p->scope, .done = count_op, .arg = p};
  s->text.mem = &p->impl->mem;
  if (s->row_of) memset(s->row_of, 0, ((size_t)p->t->n_classes + 1) * sizeof *s->row_of);
  return s->row_of && within_init(&s->within, p->mem);
}

void report_spans_begin(struct reporter *p, struct report_host_sums *sums, const struct steps_run *steps) {
  p->impl->n_hosts++;
  p->spans.sums = sums;
  p->spans.steps = *steps;
  p->spans.step = NULL;
}

bool report_spans_add(struct reporter *p, tk_id track) {
  const struct tk_track *k = &p->t->tracks[track];
  if (k->kind != TK_TRACK_THREAD || !k->count || p->match.kinds.of_track[track] & KIND_DEVICE) return true;
  if (!report_spans_open(p)) return false;
  bool ok = self_of_track(&p->spans.selves, p->t, track) && report_flames_thread(p, track);
  within_begin(&p->spans.within);
  for (tk_id i = k->first; ok && i < k->first + k->count; i++)
    if (p->t->events[i].kind == TK_EVENT_SPAN) ok = count_annotation(p, i);
  return ok;
}

void report_spans_free(struct reporter *p) {
  mem_free(p->mem, p->spans.row_of);
  within_free(&p->spans.within);
  self_free(&p->spans.selves);
  buf_free(&p->spans.text);
}

/* ---- the tables ---- */

static int by_self(const void *p, const void *q) {
  const struct tk_report_op *a = p, *b = q;
  if (a->self.s != b->self.s) return a->self.s > b->self.s ? -1 : 1;
  if (a->self.ps != b->self.ps) return a->self.ps > b->self.ps ? -1 : 1;
  const int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->kind, b->kind);
}

static bool make_ops(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  i128 sum = 0;
  r->ops = mem_array(&impl->mem, (uint64_t)impl->n_ops + 1, sizeof *r->ops);
  if (!r->ops) return false;
  for (uint32_t i = 0; i < impl->n_ops; i++) sum += impl->ops[i].self;
  for (uint32_t i = 0; i < impl->n_ops; i++) {
    const struct report_op *o = &impl->ops[i];
    const struct intern_str *name = &impl->texts.strs[o->name];
    r->ops[r->n_ops++] = (struct tk_report_op){
        .name = (const char *)name->bytes, .name_len = name->len, .kind = word_of(o->class), .count = o->count,
        .total = report_total(o->total), .self = report_total(o->self), .min = o->min, .max = o->max,
        .mean = (tk_time)((o->total * 2 + (i128)o->count) / ((i128)o->count * 2)),
        .has_steps = impl->host_steps > 0, .per_step = impl->host_steps ? (tk_time)(o->in_steps / (i128)impl->host_steps) : 0,
        .of_sum = sum > 0 ? i128_double(o->self) / i128_double(sum) : 0};
  }
  qsort(r->ops, r->n_ops, sizeof *r->ops, by_self);
  return true;
}

/* Orders nodes by parent; nodes with the same parent by total time, longest first. */
static int by_parent(const void *p, const void *q) {
  const struct report_node *a = p, *b = q;
  if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  return (a->self_number > b->self_number) - (a->self_number < b->self_number);
}

static void add_annotation(struct tk_report *r, const struct report_node *n, const struct report_node *parent) {
  const struct intern_str *name = &r->impl->texts.strs[n->name];
  r->annotations[r->n_annotations++] = (struct tk_report_annotation){
      .name = (const char *)name->bytes, .name_len = name->len, .depth = n->depth, .count = n->count, .total = report_total(n->total),
      .self = report_total(n->total > n->inner ? n->total - n->inner : 0),
      .mean = (tk_time)((n->total * 2 + (i128)n->count) / ((i128)n->count * 2)),
      .of_parent = parent && parent->total > 0 ? i128_double(n->total) / i128_double(parent->total) : 1};
}

/* Lists the tree in preorder. `first`: by node, index of its first child among the sorted nodes. */
static bool list_tree(struct tk_report *r, struct report_node *v, const uint32_t *first, uint32_t n) {
  uint32_t *stack = mem_array(&r->impl->mem, (uint64_t)n + 1, sizeof *stack), depth = 0;
  struct report_node **around = mem_array(&r->impl->mem, (uint64_t)n + 1, sizeof *around);
  for (uint32_t at = 0; stack && around && (depth || (at < n && v[at].parent == 0));) {
    if (at < n && (depth ? v[at].parent == around[depth - 1]->self_number : v[at].parent == 0)) {
      add_annotation(r, &v[at], depth ? around[depth - 1] : NULL);
      around[depth] = &v[at];
      stack[depth++] = at + 1;
      at = first[v[at].self_number];
    } else {
      at = stack[--depth];
    }
  }
  const bool ok = stack && around;
  mem_free(&r->impl->mem, stack);
  mem_free(&r->impl->mem, around);
  return ok;
}

static bool make_annotations(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  const uint32_t n = impl->n_nodes;
  uint32_t *first = mem_array(&impl->mem, (uint64_t)n + 1, sizeof *first);
  r->annotations = mem_array(&impl->mem, (uint64_t)n + 1, sizeof *r->annotations);
  bool ok = first && r->annotations;
  for (uint32_t i = 0; ok && i < n; i++) impl->nodes[i].self_number = i + 1;
  if (ok && n) qsort(impl->nodes, n, sizeof *impl->nodes, by_parent);
  for (uint32_t i = 0; ok && i <= n; i++) first[i] = n;
  for (uint32_t i = n; ok && i--;) first[impl->nodes[i].parent] = i;
  ok = ok && list_tree(r, impl->nodes, first, n);
  mem_free(&impl->mem, first);
  return ok;
}

bool report_spans_make(struct tk_report *r) { return make_ops(r) && make_annotations(r); }
