/* flows.c - flows between the markers of Firefox profiles.
 *
 *     "markerSchema":[{"name":"Task","fields":[{"key":"flow","format":"flow-id"},{"key":"last","format":"terminating-flow-id"}]}]
 *
 * An id has the same meaning in all processes. Markers with the same id form a flow in the order of their starts, up to a marker in
 * which the id is terminating; the same id in a later marker is another flow. */
#include "flows.h"

#include "base/hash.h"
#include "base/os.h"
#include "graph/args.h"

static enum gecko_field field_of(const struct gecko *g, tk_id type, tk_id key) {
  const uint32_t *field = map_get(&g->fields, hash_pair(type, key));
  return field ? (enum gecko_field)*field : GECKO_FIELD_OTHER;
}

static void note_flow(struct gecko *g, tk_id id, bool last) {
  if (!mem_grow(g->mem, (void **)&g->flows, &g->cap_flows, (uint64_t)g->n_flows + 1, sizeof *g->flows)) return;
  g->flows[g->n_flows++] = (struct gecko_flow){.id = id, .event = g->t->n_events, .last = last};
}

void gecko_note_flows(struct gecko *g) {
  const struct tk_event *e = &g->t->events[g->t->n_events];
  struct tk_arg arg;
  tk_id type = 0;
  if (!g->has_flows || !e->args) return;
  for (struct tk_args it = tk_args_of(g->t, e->args); !type && tk_args_next(&it, &arg);)
    if (arg.key == g->key_type && arg.type == TK_ARG_STR) type = arg.s;
  if (!type) return;
  for (struct tk_args it = tk_args_of(g->t, e->args); tk_args_next(&it, &arg);) {
    const enum gecko_field field = field_of(g, type, arg.key);
    if (arg.type == TK_ARG_STR && field >= GECKO_FIELD_FLOW) note_flow(g, arg.s, field == GECKO_FIELD_LAST_FLOW);
  }
}

/* ---- connecting ---- */

static int by_id_and_time(const void *x, const void *y, void *context) {
  const struct gecko_flow *a = x, *b = y;
  const struct tk_event *events = context;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  if (events[a->event].ts != events[b->event].ts) return events[a->event].ts < events[b->event].ts ? -1 : 1;
  if (a->event != b->event) return a->event < b->event ? -1 : 1;
  return (int)a->last - (int)b->last;
}

/* If a marker has the same id in two fields, drops the second field. The marker ends the flow if either field does. */
static uint32_t without_repeats(struct gecko_flow *flows, uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++) {
    struct gecko_flow *before = kept ? &flows[kept - 1] : NULL;
    if (before && before->id == flows[i].id && before->event == flows[i].event) before->last |= flows[i].last;
    else flows[kept++] = flows[i];
  }
  return kept;
}

static uint32_t end_of_flow(const struct gecko *g, uint32_t from, uint32_t n) {
  uint32_t i = from;
  while (i + 1 < n && !g->flows[i].last && g->flows[i + 1].id == g->flows[from].id) i++;
  return i + 1;
}

static void add_point(struct gecko *g, tk_id event, enum tk_flow_role role, int64_t id) {
  *trace_add_flow_point(g->t) = (struct tk_flow_point){.ts = g->t->events[event].ts, .id = id, .at = event,
                                                       .cls = trace_class(g->t, 0, 0), .role = (uint8_t)role, .bound = true};
}

/* Connects each marker of [from, to) with the next one. */
static void add_flow(struct gecko *g, uint32_t from, uint32_t to, int64_t *id) {
  for (uint32_t i = from + 1; i < to; i++) {
    add_point(g, g->flows[i - 1].event, TK_FLOW_OUT, ++*id);
    add_point(g, g->flows[i].event, TK_FLOW_IN, *id);
  }
}

void gecko_add_flows(struct gecko *g) {
  int64_t id = 0;
  os_sort(g->flows, g->n_flows, sizeof *g->flows, by_id_and_time, g->t->events);
  const uint32_t n = without_repeats(g->flows, g->n_flows);
  for (uint32_t from = 0, to; from < n; from = to) {
    to = end_of_flow(g, from, n);
    add_flow(g, from, to, &id); /* the id of a single marker remains only in the marker's args */
  }
}
