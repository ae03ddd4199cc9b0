/* markers.c - markers of Firefox profiles: events of a thread with a name, a category and data.
 *
 *     "markers":{"name":[7],"startTime":[1.5],"endTime":[2],"phase":[1],"category":[0],"data":[{"type":"Text","name":"x"}]}
 *
 * Phase 0 is an instant, 1 a span; 2 starts a span, and 3 ends the open span of the same name that started last.
 * Markers need not nest: two spans may overlap in part. In older profiles, a marker has one time, and its data may have a start
 * and an end (type "tracing": "interval":"start" and "end"). Samples of allocations are markers in raw profiles. */
#include "markers.h"

#include <string.h>

#include "base/hash.h"
#include "flows.h"
#include "format/json_args.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "values.h"

enum { INSTANT, INTERVAL, INTERVAL_START, INTERVAL_END, NO_PHASE };

struct marker {
  const uint8_t *at;
  struct json_value data;
  struct json_value type, start, end, interval, stack, size; /* members of the data */
  tk_id cls, name;
  int phase;
  bool raw; /* the profile is raw: its allocations are markers */
  bool has_start, has_end;
  tk_time from, to;
};

/* ---- data ---- */

/* Returns the arg key for a member of a marker's data. A name that is a reserved key gets the prefix "gecko.". */
static tk_id marker_key(struct gecko *g, struct json_walk *w, const struct json_string *key) {
  struct buf b = {.mem = g->mem};
  size_t n;
  const uint8_t *text = json_string_text(&w->j, key, &n);
  tk_id id = trace_string(g->t, text, n);
  if (!key_is_reserved(tk_string(g->t, id, NULL))) return id;
  buf_text(&b, "gecko.");
  buf_append(&b, trace_str(g->t, id)->bytes, trace_str(g->t, id)->len);
  id = b.data ? trace_string(g->t, b.data, b.len) : 0;
  buf_free(&b);
  return id;
}

static void put_nested(struct gecko *g, struct json_walk *w, tk_id key, const struct json_value *v) {
  struct json_walk in = json_walk_into(w, v);
  struct buf copy = {.mem = g->mem};
  if (json_copy(&in.j, &copy)) args_str(g->t, key, TK_ARG_JSON, trace_string(g->t, copy.data, copy.len));
  buf_free(&copy);
  json_walk_free(&in);
}

static void put_member(struct gecko *g, struct json_walk *w, tk_id key, const struct json_value *v, tk_id type) {
  const uint64_t field = hash_pair(type, key);
  struct tk_arg arg;
  tk_id text;
  switch (v->type) {
  case JSON_NULL: args_flag(g->t, key, TK_ARG_NULL); return;
  case JSON_FALSE: args_flag(g->t, key, TK_ARG_FALSE); return;
  case JSON_TRUE: args_flag(g->t, key, TK_ARG_TRUE); return;
  case JSON_STRING: args_str(g->t, key, TK_ARG_STR, gecko_text(g, w, v)); return;
  case JSON_NUMBER:
    text = type && map_get(&g->fields, field) ? gecko_string_of(g, &g->tables, w, v) : 0;
    if (text) {
      args_str(g->t, key, TK_ARG_STR, text);
      return;
    }
    arg = json_number_arg(g->t, v);
    arg.key = key;
    args_copy(g->t, &arg);
    return;
  default: put_nested(g, w, key, v);
  }
}

/* Adds the data of a marker to the args under construction, except its stack, which only makes sense with the tables of the file. */
static void put_data(struct gecko *g, struct json_walk *w, const struct marker *m) {
  struct json_walk in = json_walk_into(w, &m->data);
  const tk_id type = gecko_text(g, w, &m->type);
  struct json_string key;
  struct json_value v;
  if (m->data.p && m->data.type == JSON_OBJECT && json_walk_enter(&in, '{'))
    while (json_walk_key(&in, &key)) {
      const bool is_stack = json_is(&in.j, &key, "stack") || json_is(&in.j, &key, "cause");
      const tk_id id = is_stack ? 0 : marker_key(g, &in, &key);
      if (!json_walk_value(&in, &v)) break;
      if (id) put_member(g, &in, id, &v, type);
      else if (v.type == JSON_OBJECT) g->n_marker_stacks++;
    }
  json_walk_free(&in);
}

static void find_data(struct json_walk *w, struct marker *m) {
  const struct json_place places[] = {{"type", &m->type}, {"startTime", &m->start}, {"endTime", &m->end}, {"interval", &m->interval},
                                      {"stack", &m->stack}, {"size", &m->size}, {NULL, NULL}};
  json_walk_object(w, &m->data, places);
}

/* ---- spans with separate start and end markers ---- */

static void open_marker(struct gecko *g, const struct marker *m, uint32_t args) {
  if (!mem_grow(g->mem, (void **)&g->open, &g->cap_open, (uint64_t)g->n_open + 1, sizeof *g->open)) return;
  uint32_t *last = map_put(&g->open_by_name, m->name, 0);
  if (!last) return;
  g->open[g->n_open++] = (struct gecko_open){.ts = m->from, .cls = m->cls, .args = args, .next = *last};
  *last = g->n_open;
}

static void add_span(struct gecko *g, tk_id cls, uint32_t args, tk_time from, tk_time to, uint8_t flags) {
  const struct tk_event e = {.ts = from, .dur = to > from ? to - from : 0, .track = g->track, .cls = cls, .args = args,
                             .kind = TK_EVENT_SPAN, .flags = flags};
  *trace_add_event(g->t) = e;
  gecko_note_flows(g);
}

/* Adds the span that an end marker closes. If no start was recorded, the marker began before the recording, and its span is clipped to
 * the first sample. */
static void close_marker(struct gecko *g, struct json_walk *w, const struct marker *m) {
  uint32_t *last = map_get(&g->open_by_name, m->name);
  struct tk_arg arg;
  args_begin(g->t);
  if (!last || !*last) {
    put_data(g, w, m);
    g->n_started_before++;
    add_span(g, m->cls, args_end(g->t), g->has_sample && g->first_sample < m->to ? g->first_sample : m->to, m->to, TK_FLAG_CLIPPED);
    return;
  }
  struct gecko_open *o = &g->open[*last - 1];
  *last = o->next;
  for (struct tk_args it = tk_args_of(g->t, o->args); tk_args_next(&it, &arg);) args_copy(g->t, &arg);
  put_data(g, w, m);
  add_span(g, o->cls, args_end(g->t), o->ts, m->to, 0);
  o->ended = true;
}

/* Adds markers without an end as begin events. */
static void finish_markers(struct gecko *g) {
  for (uint32_t i = 0; i < g->n_open; i++) {
    const struct gecko_open *o = &g->open[i];
    const struct tk_event e = {.ts = o->ts, .track = g->track, .cls = o->cls, .args = o->args, .kind = TK_EVENT_BEGIN};
    if (o->ended) continue;
    *trace_add_event(g->t) = e;
    gecko_note_flows(g);
  }
  g->n_open = 0;
}

/* ---- allocations ---- */

/* Adds a raw marker of an allocation as a sample. Returns false if the marker is not an allocation. */
static bool add_allocation(struct gecko *g, struct json_walk *w, const struct marker *m) {
  static const char *const NAMES[] = {"stack", NULL};
  struct json_value samples;
  const struct json_place places[] = {{"samples", &samples}, {NULL, NULL}};
  struct gecko_rows r;
  uint32_t i = 0;
  if (!m->raw || !m->type.p || m->type.type != JSON_STRING || !m->has_start || !m->size.p || m->size.type != JSON_NUMBER) return false;
  const bool is_js = json_is(&w->j, &m->type.str, "JS allocation");
  if (!is_js && !json_is(&w->j, &m->type.str, "Native allocation")) return false;
  json_walk_object(w, &m->stack, places);
  const bool found = gecko_rows_begin(&r, w, &samples, NAMES) && gecko_rows_next(&r) &&
                     gecko_index(g, &r.cells[0], g->tables.stacks.n, &i);
  gecko_rows_end(&r);
  if (!found || (m->size.num.kind != NUM_INT && m->size.num.kind != NUM_DEC)) return false;
  const struct tk_sample s = {.ts = m->from, .track = g->track, .unit = g->unit_bytes, .stack = g->tables.stacks.v[i].id,
                              .cat = trace_text(g->t, is_js ? "JS allocation" : "Native allocation"), .weight = m->size.num.mant,
                              .exp = m->size.num.kind == NUM_DEC ? m->size.num.exp : 0};
  stack_add(g->t, &s);
  return true;
}

/* ---- markers ---- */

/* Finds phase and times of a marker in older versions: it has one time, and its data may have a start and an end. */
static void find_old_phase(struct gecko *g, struct json_walk *w, struct marker *m, const struct json_value *time) {
  const bool paired = m->interval.p && m->interval.type == JSON_STRING;
  m->has_start = gecko_time(g, time, &m->from);
  m->to = m->from;
  m->has_end = m->has_start;
  m->phase = paired && json_is(&w->j, &m->interval.str, "start") ? INTERVAL_START
             : paired && json_is(&w->j, &m->interval.str, "end") ? INTERVAL_END : INSTANT;
  tk_time from, to;
  if (m->phase != INSTANT || !gecko_time(g, &m->start, &from) || !gecko_time(g, &m->end, &to)) return;
  m->phase = INTERVAL;
  m->from = from;
  m->to = to;
  m->has_start = m->has_end = true;
}

static void find_phase(struct gecko *g, struct json_walk *w, struct marker *m, const struct gecko_rows *r) {
  int64_t phase;
  if (r->cells[6].p && !r->cells[3].p) {
    find_old_phase(g, w, m, &r->cells[6]);
    return;
  }
  m->has_start = gecko_time(g, &r->cells[1], &m->from);
  m->has_end = gecko_time(g, &r->cells[2], &m->to);
  m->phase = json_walk_whole(&r->cells[3], &phase) && phase >= INSTANT && phase <= INTERVAL_END ? (int)phase : NO_PHASE;
}

static void add_marker(struct gecko *g, struct json_walk *w, struct marker *m) {
  const bool lacks_start = !m->has_start && m->phase != INTERVAL_END;
  const bool lacks_end = !m->has_end && (m->phase == INTERVAL || m->phase == INTERVAL_END);
  if (m->phase == NO_PHASE || lacks_start || lacks_end) {
    gecko_repair(g, m->at, "marker without a phase or its times: dropped");
    g->t->counts.dropped++;
    return;
  }
  if (add_allocation(g, w, m)) return;
  if (m->phase == INTERVAL && m->to < m->from) gecko_repair(g, m->at, "marker that ends before it starts: using length 0");
  if (m->phase == INTERVAL_END) {
    close_marker(g, w, m);
    return;
  }
  args_begin(g->t);
  put_data(g, w, m);
  if (g->is_recording) args_decimal(g->t, trace_text(g->t, "time_ms"), m->from, -9); /* the event stands at the start of its thread */
  const uint32_t args = args_end(g->t);
  const struct tk_event instant = {.ts = m->from, .track = g->track, .cls = m->cls, .args = args, .kind = TK_EVENT_INSTANT};
  if (m->phase == INTERVAL_START) open_marker(g, m, args);
  else if (m->phase == INTERVAL) add_span(g, m->cls, args, m->from, m->to, 0);
  else {
    *trace_add_event(g->t) = instant;
    gecko_note_flows(g);
  }
}

void gecko_read_markers(struct gecko *g, struct json_walk *w, const struct json_value *table) {
  static const char *const NAMES[] = {"name", "startTime", "endTime", "phase", "category", "data", "time", NULL};
  struct gecko_rows r;
  uint32_t i;
  map_init(&g->open_by_name, g->mem);
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      struct marker m = {.at = r.at, .data = r.cells[5], .raw = r.raw};
      g->t->counts.read++;
      find_data(w, &m);
      m.name = gecko_string_of(g, &g->tables, w, &r.cells[0]);
      const bool has_category = g->categories.n && gecko_index(g, &r.cells[4], g->categories.n, &i);
      m.cls = trace_class(g->t, m.name, has_category ? g->categories.v[i] : 0);
      find_phase(g, w, &m, &r);
      add_marker(g, w, &m);
    }
  gecko_rows_end(&r);
  finish_markers(g);
  map_free(&g->open_by_name);
}
