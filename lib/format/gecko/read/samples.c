/* samples.c - samples of Firefox profiles, and allocations, which are samples in bytes.
 *
 *     "samples":{"stack":[4,null],"timeDeltas":[0,1],"weight":null,"weightType":"samples","threadCPUDelta":[null,125]}
 *
 * A sample without a stack means that nothing was recorded; the Firefox Profiler also ignores it. */
#include "samples.h"

#include "format/json_args.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "values.h"

/* Returns the unit of the weights of a table. */
static tk_id unit_of(struct gecko *g, struct json_walk *w, const struct json_value *type) {
  if (!type->p || type->type != JSON_STRING) return g->unit_samples;
  if (json_is(&w->j, &type->str, "tracing-ms")) return g->unit_ms;
  if (json_is(&w->j, &type->str, "bytes")) return g->unit_bytes;
  return json_is(&w->j, &type->str, "samples") ? g->unit_samples : gecko_text(g, w, type);
}

static void weigh(struct gecko *g, const struct json_value *v, struct tk_sample *s) {
  s->weight = 1;
  s->exp = 0;
  if (!v->p || v->type == JSON_NULL) return;
  if (v->type != JSON_NUMBER || (v->num.kind != NUM_INT && v->num.kind != NUM_DEC)) {
    gecko_repair(g, v->p, "weight that is not a number: using 1");
    return;
  }
  s->weight = v->num.mant;
  if (v->num.kind == NUM_DEC) s->exp = v->num.exp;
}

/* Adds a cell with a number to the args under construction; calls args_begin before the first one. */
static void put_cell(struct gecko *g, tk_id key, const struct json_value *v, bool *any) {
  if (!v->p || v->type != JSON_NUMBER) return;
  struct tk_arg arg = json_number_arg(g->t, v);
  if (!*any) args_begin(g->t);
  *any = true;
  arg.key = key;
  args_copy(g->t, &arg);
}

static void add_row(struct gecko *g, const struct gecko_rows *r, const struct tk_sample *s) {
  bool any = false;
  put_cell(g, g->key_cpu, &r->cells[4], &any);
  put_cell(g, g->key_delay, &r->cells[5], &any);
  put_cell(g, g->key_responsiveness, &r->cells[6], &any);
  if (any) stack_add_with(g->t, s, stack_weight_args(g->t, s->weight, s->exp, true));
  else stack_add(g->t, s);
  if (!g->has_sample || s->ts < g->first_sample) g->first_sample = s->ts;
  g->has_sample = true;
}

static void read_sample(struct gecko *g, const struct gecko_rows *r, struct gecko_clock *clock, struct tk_sample *s, tk_id cat) {
  const struct json_value *stack = &r->cells[0];
  const bool has_time = gecko_next_time(g, clock, &r->cells[1], &r->cells[2], &s->ts);
  uint32_t i;
  g->t->counts.read++;
  if (!stack->p || stack->type == JSON_NULL) {
    g->n_stackless++;
  } else if (!has_time || !gecko_index(g, stack, g->tables.stacks.n, &i)) {
    gecko_repair(g, r->at, has_time ? "sample of an unknown stack: dropped" : "sample without a time: dropped");
    g->t->counts.dropped++;
  } else {
    weigh(g, &r->cells[3], s);
    s->stack = g->tables.stacks.v[i].id;
    s->cat = cat ? cat : g->tables.stacks.v[i].cat;
    add_row(g, r, s);
  }
}

void gecko_read_samples(struct gecko *g, struct json_walk *w, const struct json_value *table, tk_id cat) {
  static const char *const NAMES[] = {"stack", "time", "timeDeltas", "weight", "threadCPUDelta", "eventDelay", "responsiveness",
                                      NULL};
  struct json_value type;
  const struct json_place places[] = {{"weightType", &type}, {NULL, NULL}};
  struct gecko_clock clock = {0};
  struct gecko_rows r;
  if (!table->p || table->type != JSON_OBJECT) return;
  json_walk_object(w, table, places);
  struct tk_sample s = {.track = g->track, .unit = cat ? g->unit_bytes : unit_of(g, w, &type)};
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) read_sample(g, &r, &clock, &s, cat);
  gecko_rows_end(&r);
}
