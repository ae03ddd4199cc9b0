/* counters.c - converts counter samples.
 *
 * A Perfetto sample is one number on a counter track, so it becomes an event with one arg. If an event has several series, our writer
 * writes several samples: all but the first are marked as joined to the first one. Private fields of the packets contain the properties
 * of the event that samples cannot represent (write/counters.c). The args of such an event are collected until the next event is
 * read. */
#include "counters.h"
#include "reader.h"
#include "sequence.h"
#include "args.h"
#include "graph/args.h"

static tk_id number_text(struct tk_trace *t, const struct tk_arg *v) {
  char text[32];
  size_t n = v->type == TK_ARG_INT ? num_put_i64(text, v->i) : v->d - v->d == 0 ? num_put_double(text, v->d) : 0;
  return trace_string(t, text, n);
}

/* Returns the running sum of an incremental counter in a sequence; a reset of the incremental state sets the sum to 0. Returns NULL if
 * memory runs out. */
static struct counter_sum *sum_of(struct perfetto *r, const struct counter_sample *s) {
  struct counter_sums *all = &r->counter_sums;
  const uint32_t clearing = r->sequences[s->sequence].n_clearings;
  uint32_t *slot = map_put(&all->index, (uint64_t)s->node << 32 | s->sequence, 0);
  if (!slot) return NULL;
  if (!*slot && !mem_grow(&r->t->store->mem, (void **)&all->of, &all->cap, (uint64_t)all->n + 1, sizeof *all->of)) return NULL;
  const bool is_new = !*slot;
  if (is_new) *slot = ++all->n;
  struct counter_sum *sum = &all->of[*slot - 1];
  if (is_new || sum->clearing != clearing) *sum = (struct counter_sum){.clearing = clearing};
  return sum;
}

struct tk_arg counters_value(struct perfetto *r, const struct counter_sample *s) {
  struct node *n = &r->nodes[s->node];
  struct tk_arg v = {.type = s->value.type, .key = n->unit ? n->unit : KEY_COUNTER_VALUE};
  struct counter_sum own = {s->value.i, s->value.d, 0}, *sum = n->incremental ? sum_of(r, s) : NULL;
  if (sum && v.type == TK_ARG_INT) own.whole = sum->whole = (int64_t)((uint64_t)sum->whole + (uint64_t)s->value.i);
  if (sum && v.type != TK_ARG_INT) sum->real += s->value.d;
  if (sum && sum->real != 0) v.type = TK_ARG_DOUBLE; /* integer and floating-point deltas add up to one value */
  if (sum && v.type != TK_ARG_INT) own.real = sum->real + (double)sum->whole;
  if (v.type == TK_ARG_INT) v.i = (int64_t)((uint64_t)own.whole * (uint64_t)n->multiplier);
  else v.d = own.real * (double)n->multiplier;
  if (n->form & FORM_TEXT) v = (struct tk_arg){.type = TK_ARG_STR, .key = v.key, .s = number_text(r->t, &v)};
  return v;
}

/* Adds the id of the counter as an arg, which all events of a counter with an id have. */
static void add_id(struct perfetto *r, const struct node *n) {
  const uint8_t *end;
  if (!n->counter_id) return;
  if (n->form & FORM_NUMBER_ID) args_int(r->t, KEY_ID, num_scan(trace_str(r->t, n->counter_id)->bytes, &end).mant);
  else args_str(r->t, KEY_ID, TK_ARG_STR, n->counter_id);
}

/* Returns the class for a counter and a category. The class gets the name of the counter later, when it is known. */
static tk_id counters_class_of(struct perfetto *r, uint32_t node, tk_id cat) {
  struct counter_classes *all = &r->counter_classes;
  uint32_t *slot = map_put(&all->index, (uint64_t)node << 32 | cat, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&r->t->store->mem, (void **)&all->of, &all->cap, (uint64_t)all->n + 1, sizeof *all->of)) return 0;
  trace_add_class(r->t)->cat = cat;
  all->of[all->n++] = (struct counter_class){r->t->n_classes, node};
  return *slot = r->t->n_classes;
}

void perfetto_name_counters(struct perfetto *r) {
  for (uint32_t i = 0; i < r->counter_classes.n; i++) {
    const struct counter_class *c = &r->counter_classes.of[i];
    r->t->classes[c->cls].name = r->nodes[c->node].counter_name;
  }
}

static void counters_add_event(struct perfetto *r, const struct counter_sample *s, tk_id cls, uint32_t args) {
  struct tk_event *e = trace_add_event(r->t);
  e->ts = s->ns;
  e->kind = TK_EVENT_COUNTER;
  e->cls = cls;
  e->args = args;
  e->track = s->node * ASPECTS + ON_COUNTER;
  r->nodes[s->node].has_events = true;
  if (s->pending) perfetto_add_pending(r, (struct pending_time){s->pending, r->t->n_events, false});
  r->t->counts.by_phase['C']++;
}

static void add_fields(struct perfetto *r, const struct counter_sample *s) {
  if (s->fields) args_str(r->t, KEY_PERFETTO_FIELDS, TK_ARG_BYTES, s->fields);
  if (s->interned) args_int(r->t, r->interned_key, s->interned);
}

void counters_add(struct perfetto *r, const struct counter_sample *s, const struct tk_arg *value) {
  args_begin(r->t);
  add_id(r, &r->nodes[s->node]);
  args_copy(r->t, value);
  add_fields(r, s);
  counters_add_event(r, s, counters_class_of(r, s->node, s->cat), args_end(r->t));
}

void perfetto_sample(struct perfetto *r, const struct counter_sample *s) {
  if (!s->node) return;
  const struct tk_arg value = counters_value(r, s);
  counters_add(r, s, &value);
}

/* ---- events of several samples ---- */

static void collect(struct perfetto *r, const struct tk_arg *arg) {
  struct collected *c = &r->collected;
  if (mem_grow(&r->t->store->mem, (void **)&c->args, &c->cap, (uint64_t)c->n + 1, sizeof *c->args)) c->args[c->n++] = *arg;
}

static void collect_all(struct perfetto *r, uint32_t args) {
  struct tk_args it = tk_args_of(r->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) collect(r, &arg);
}

void perfetto_end_collected(struct perfetto *r) {
  struct collected *c = &r->collected;
  if (c->event) {
    args_begin(r->t);
    for (uint32_t i = 0; i < c->n; i++) args_copy(r->t, &c->args[i]);
    r->t->events[c->event].args = args_end(r->t);
  }
  c->event = c->n = 0;
}

/* Returns the args that private fields contain; 0 = none. */
static uint32_t private_args(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  args_begin(r->t);
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES)) perfetto_annotation(r, q, &g);
  return args_end(r->t);
}

static bool counters_has_key(struct perfetto *r, uint32_t args, tk_id key) {
  const struct tk_arg_shape *shape = tk_args_of(r->t, args).shape;
  for (uint32_t i = 0; shape && i < shape->n; i++)
    if (shape->fields[i].key == key) return true;
  return false;
}

/* Collects the args of the sample's packet: private args, then the sample itself unless the private args contain it. */
static void collect_sample(struct perfetto *r, struct sequence *q, const struct pb_field *rest, const struct counter_sample *s) {
  uint32_t args = rest->p ? private_args(r, q, rest) : 0;
  struct tk_arg v = counters_value(r, s);
  collect_all(r, args);
  if (!counters_has_key(r, args, v.key)) collect(r, &v);
}

void perfetto_private_sample(struct perfetto *r, struct sequence *q, const struct packet *k, const struct counter_sample *s) {
  struct tk_trace *t = r->t;
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f, rest = {0};
  bool joined = false;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_JOINED, PB_VARINT)) joined = f.value != 0;
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_ARGS, PB_BYTES)) rest = f;
  }
  const struct tk_event *last = &t->events[t->n_events];
  if (!s->node) return;
  if (!joined || t->n_events == 0 || last->kind != TK_EVENT_COUNTER || last->ts != s->ns) {
    args_begin(t);
    add_id(r, &r->nodes[s->node]);
    add_fields(r, s);
    counters_add_event(r, s, counters_class_of(r, s->node, s->cat), args_end(t));
  }
  if (r->collected.event != t->n_events) {
    perfetto_end_collected(r);
    collect_all(r, t->events[t->n_events].args);
    r->collected.event = t->n_events;
  }
  collect_sample(r, q, &rest, s);
}

/* Adds a counter event that had no sample; it was written on a track that viewers ignore. */
void perfetto_lone_counter(struct perfetto *r, struct sequence *q, const struct counter_sample *s, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  tk_id name = 0, cat = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(EVENT_NAME_IID, PB_VARINT)) name = sequence_text(r, q, IID_NAME, g.value);
    if (pb_field_key(&g) == PB_KEY(EVENT_CATEGORY_IIDS, PB_VARINT)) cat = sequence_text(r, q, IID_CATEGORY, g.value);
  }
  counters_add_event(r, s, trace_class(r->t, name, cat), private_args(r, q, f));
}
