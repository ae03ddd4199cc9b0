/* phase.c - converts the phases of Chrome JSON events to the graph.
 *
 * X, B, E, i, I, R, C, b, n, e, S, T, p and F become events, s, t and f flow points; everything else is kept raw as a record. The
 * meanings follow the Trace Event Format; cases that it leaves open follow its two viewers. */
#include <string.h>

#include "phase.h"
#include "reader.h"
#include "spelling.h"
#include "record.h"
#include "lanes.h"
#include "graph/args.h"

enum phase { PHASE_RECORD, PHASE_SPAN, PHASE_INSTANT, PHASE_COUNTER, PHASE_FLOW, PHASE_ASYNC, PHASE_LEGACY_ASYNC };
static const uint8_t PHASES[256] = {
  ['X'] = PHASE_SPAN,         ['B'] = PHASE_SPAN,         ['E'] = PHASE_SPAN,         ['C'] = PHASE_COUNTER,
  ['i'] = PHASE_INSTANT,      ['I'] = PHASE_INSTANT,      ['R'] = PHASE_INSTANT,      ['s'] = PHASE_FLOW,
  ['t'] = PHASE_FLOW,         ['f'] = PHASE_FLOW,         ['b'] = PHASE_ASYNC,        ['n'] = PHASE_ASYNC,
  ['e'] = PHASE_ASYNC,        ['S'] = PHASE_LEGACY_ASYNC, ['T'] = PHASE_LEGACY_ASYNC, ['p'] = PHASE_LEGACY_ASYNC,
  ['F'] = PHASE_LEGACY_ASYNC,
};

bool chrome_phase_known(uint8_t ph) { return PHASES[ph] != PHASE_RECORD; }

static bool plain_id(const struct tk_arg *id) { return id->type == TK_ARG_INT || id->type == TK_ARG_UINT || id->type == TK_ARG_STR; }

static void set_id(struct tk_flow_point *f, const struct tk_arg *id) {
  f->id_kind = id->type == TK_ARG_STR ? TK_FLOW_ID_STR : id->type == TK_ARG_UINT ? TK_FLOW_ID_UINT : TK_FLOW_ID_INT;
  f->id = id->type == TK_ARG_STR ? (int64_t)id->s : id->i;
}

/* Finds the local id in the object "id2" of an event: {"local":"0x1"}. */
static bool local_id(const struct tk_trace *t, const struct chrome_event *e, struct json_value *v) {
  size_t n;
  const char *text = tk_string(t, e->id2, &n);
  return e->id2 && json_member(text, n, "local", v) && (v->type == JSON_STRING || v->type == JSON_NUMBER);
}

/* True if the flow point has an id: a plain one, or one that is local to its process, as async events may have. trace_processor reads
 * only plain ids of flows. */
static bool has_flow_id(const struct tk_trace *t, const struct chrome_event *e) {
  struct json_value v;
  if (e->has_id && e->has_id2) return false;
  return e->has_id ? plain_id(&e->id) : !(t->store->without & TK_WITHOUT_RESTORING) && local_id(t, e, &v);
}

/* Returns the reason why an event of a known phase must still become a record; NULL if there is none. Async events and flow
 * points need an identity. */
static const char *unusable(const struct tk_trace *t, const struct chrome_event *e) {
  if (PHASES[e->ph] == PHASE_FLOW) return has_flow_id(t, e) ? NULL : "flow event without a plain id: kept, but no flow";
  if (e->has_id && e->has_id2) return "async event with both id and id2: kept, but not interpreted";
  return e->has_id || e->has_id2 ? NULL : "async event without an id: kept, but not interpreted";
}

/* True for an instant of DevTools that contains a whole CPU profile; samples.c reads its record. */
static bool is_profile(const struct tk_trace *t, const struct chrome_event *e) {
  return e->ph == 'I' && strcmp(tk_string(t, e->name, NULL), "CpuProfile") == 0 &&
         strstr(tk_string(t, e->cat, NULL), "devtools.timeline");
}

bool chrome_is_record(const struct tk_trace *t, const struct chrome_event *e) {
  const enum phase phase = PHASES[e->ph];
  if (phase == PHASE_INSTANT && is_profile(t, e)) return true;
  return phase == PHASE_RECORD || (phase >= PHASE_FLOW && unusable(t, e));
}

/* ---- times ---- */

/* Durations of 53 days or more are invalid. */
static const i128 LONG_PS = (i128)1 << 62;

/* ---- args of the phase ---- */

/* True for an instant whose scope is its process or the whole trace. */
static bool is_wide(const struct chrome *r, const struct chrome_event *e) {
  const char *s = tk_string(r->t, e->s, NULL);
  return PHASES[e->ph] == PHASE_INSTANT && (*s == 'g' || *s == 'p') && !s[1];
}

static void repaired_dur(struct chrome *r, struct chrome_event *e) {
  char text[64];
  if (e->dur.kind == WHEN_OK) {
    e->dur_arg = (struct tk_arg){.type = TK_ARG_NUMBER, .s = trace_string(r->t, text, num_put_us(text, e->dur.ps))};
    e->dur.kind = WHEN_BAD;
  }
  e->dur_arg.key = KEY_REPAIRED_DUR;
  args_copy(r->t, &e->dur_arg);
}

/* Repairs the duration of a span if it is missing, negative or too long. */
static void usable_dur(struct chrome *r, struct chrome_event *e) {
  if (e->dur.kind == WHEN_NONE && e->tdur.kind == WHEN_OK && e->tdur.ps >= 0 && e->tdur.ps < LONG_PS) {
    json_fix(&r->j, r->at, "X event without dur: using tdur, the time of its thread");
    e->dur = e->tdur;
  } else if (e->dur.kind == WHEN_NONE) {
    json_fix(&r->j, r->at, "X event without dur: using 0");
  } else if (e->dur.kind == WHEN_BAD) {
    json_fix(&r->j, r->at, "dur is not a number: using 0");
    repaired_dur(r, e);
  } else if (e->dur.ps < 0) {
    json_fix(&r->j, r->at, "negative dur: using 0");
    repaired_dur(r, e);
  } else if (e->dur.ps >= LONG_PS) {
    json_fix(&r->j, r->at, "dur of more than 53 days: using 0");
    repaired_dur(r, e);
  }
}

static void copy_as(struct chrome *r, struct tk_arg arg, tk_id key) {
  arg.key = key;
  args_copy(r->t, &arg);
}

/* Keeps the duration of an event that is not a span, as the arg "json.dur". */
static void keep_dur(struct chrome *r, const struct chrome_event *e) {
  char text[64];
  const tk_id key = trace_text(r->t, "json.dur");
  const enum tk_arg_type type = e->dur.quoted ? TK_ARG_STR : TK_ARG_NUMBER;
  if (e->dur.kind == WHEN_OK) args_str(r->t, key, type, trace_string(r->t, text, num_put_us(text, e->dur.ps)));
  else copy_as(r, e->dur_arg, key);
}

void chrome_extra_args(struct chrome *r, struct chrome_event *e) {
  char ph = (char)e->ph;
  const char *s = tk_string(r->t, e->s, NULL);
  bool wide = is_wide(r, e);
  if (!chrome_phase_known(e->ph)) return;
  if (e->ph == 'X') usable_dur(r, e);
  else if (e->dur.kind != WHEN_NONE) keep_dur(r, e);
  if (e->has_id && PHASES[e->ph] != PHASE_FLOW) copy_as(r, e->id, KEY_ID);
  if (e->s) args_str(r->t, KEY_SCOPE_OF_INSTANT, TK_ARG_STR, e->s);
  if (PHASES[e->ph] == PHASE_INSTANT && e->s && !wide && strcmp(s, "t") != 0)
    json_fix(&r->j, r->at, "instant with an unknown scope: assigned to its thread");
  if (e->bp && !(PHASES[e->ph] == PHASE_FLOW && e->enclosing)) args_str(r->t, KEY_BP, TK_ARG_STR, e->bp);
  if (e->ph == 'I' || e->ph == 'R' || PHASES[e->ph] == PHASE_LEGACY_ASYNC)
    args_str(r->t, KEY_PH, TK_ARG_STR, trace_string(r->t, &ph, 1));
  if (wide && (e->tid.kind == TK_IDENT_INT || e->tid.kind == TK_IDENT_QUOTED)) args_int(r->t, KEY_TID, e->tid.num);
  if (wide && e->tid.kind == TK_IDENT_STR) args_str(r->t, KEY_TID, TK_ARG_STR, e->tid.str);
}

static bool is_finite(const struct tk_trace *t, const struct tk_arg *arg) {
  const char *text = arg->type == TK_ARG_STR ? tk_string(t, arg->s, NULL) : "";
  return strcmp(text, "NaN") != 0 && strcmp(text, "Infinity") != 0 && strcmp(text, "-Infinity") != 0;
}

void chrome_drop_nan(struct chrome *r) {
  uint32_t n = r->t->store->builder.n;
  args_keep(r->t, is_finite);
  for (; n > r->t->store->builder.n; n--) json_fix(&r->j, r->at, "counter series is not a number: sample dropped");
}

/* ---- tracks ---- */

/* Returns the track of a counter. Counters with different ids have separate tracks. */
static tk_id counter_track(struct chrome *r, const struct chrome_event *e) {
  return trace_track(r->t, TK_TRACK_COUNTERS, e->pid, e->tid, e->has_id ? trace_counter_name(r->t, e->name, &e->id) : e->name);
}

/* ---- events ---- */

static void drop_event(struct chrome *r, const struct chrome_event *e, const char *why) {
  trace_note(r->t, TK_NOTE_REPAIR, e->offset, why);
  r->t->counts.dropped++;
}

/* Returns the args of a counter sample plus its tid, which differs from the tid of the counter's first sample. */
static uint32_t with_tid(struct chrome *r, uint32_t args, struct tk_ident tid) {
  struct tk_args it = tk_args_of(r->t, args);
  struct tk_arg arg;
  args_begin(r->t);
  while (tk_args_next(&it, &arg)) args_copy(r->t, &arg);
  if (tid.kind == TK_IDENT_NONE) args_flag(r->t, KEY_TID, TK_ARG_NULL);
  else if (tid.kind == TK_IDENT_STR) args_str(r->t, KEY_TID, TK_ARG_STR, tid.str);
  else args_int(r->t, KEY_TID, tid.num);
  return args_end(r->t);
}

static void set_kind_and_track(struct chrome *r, const struct chrome_event *e, struct tk_event *ev) {
  if (e->ph == 'X' || e->ph == 'B' || e->ph == 'E') {
    ev->kind = e->ph == 'X' ? TK_EVENT_SPAN : e->ph == 'B' ? TK_EVENT_BEGIN : TK_EVENT_END;
    ev->track = chrome_thread(r, e->pid, e->tid);
  } else if (PHASES[e->ph] == PHASE_INSTANT) {
    ev->kind = TK_EVENT_INSTANT;
    ev->track = is_wide(r, e) ? trace_process(r->t, e->pid) : chrome_thread(r, e->pid, e->tid);
  } else if (e->ph == 'C') {
    ev->kind = TK_EVENT_COUNTER;
    ev->track = counter_track(r, e);
    if (!trace_ident_equal(r->t->tracks[ev->track].tid, e->tid)) ev->args = with_tid(r, ev->args, e->tid);
  } else {
    ev->kind = e->ph == 'b' || e->ph == 'S' ? TK_EVENT_BEGIN : e->ph == 'e' || e->ph == 'F' ? TK_EVENT_END : TK_EVENT_INSTANT;
    ev->flags |= TK_FLAG_ASYNC;
    ev->track = trace_track(r->t, TK_TRACK_ASYNCS, e->pid, e->tid, 0);
  }
}

/* Adds a flow point to the event. The flow's id is the event's bind_id. */
static void bound_point(struct chrome *r, const struct chrome_event *e, tk_id event) {
  struct tk_flow_point *f;
  if (!plain_id(&e->bind_id)) {
    trace_note(r->t, TK_NOTE_INFO, e->offset, "bind_id is neither an integer nor a string: no flow is created");
    return;
  }
  if (!e->flow_in && !e->flow_out) {
    trace_note(r->t, TK_NOTE_INFO, e->offset, "bind_id without flow_in or flow_out: no flow is created");
    return;
  }
  f = trace_add_flow_point(r->t);
  f->role = e->flow_in && e->flow_out ? TK_FLOW_INOUT : e->flow_in ? TK_FLOW_IN : TK_FLOW_OUT;
  f->cls = trace_class(r->t, 0, 0);
  set_id(f, &e->bind_id);
  f->bound = true;
  f->at = event;
}

static void emit_event(struct chrome *r, const struct chrome_event *e, uint32_t args) {
  tk_time ts = 0;
  bool near;
  struct tk_event *ev;
  if (e->ts.kind != WHEN_OK) {
    drop_event(r, e, "event without a usable ts: dropped");
    return;
  }
  near = chrome_relative(r, e->ts.ps, &ts);
  ev = trace_add_event(r->t);
  ev->ts = ts;
  ev->cls = chrome_class(r, e->name, e->cat);
  ev->args = args;
  set_kind_and_track(r, e, ev);
  const unsigned respelled = chrome_respelled(r, e, ev->track);
  if (respelled) ev->args = chrome_with_respelled(r, ev->args, respelled, e);
  if (e->ph == 'X' && e->dur.kind == WHEN_OK) ev->dur = (tk_time)e->dur.ps;
  else if (e->ph == 'X') ev->flags |= TK_FLAG_REPAIRED;
  if (ts > INT64_MAX - ev->dur) {
    trace_note(r->t, TK_NOTE_REPAIR, e->offset, "span that ends more than 106 days from the rest: clipped");
    ev->dur = INT64_MAX - ts;
    ev->flags |= TK_FLAG_REPAIRED;
  }
  if (!near) {
    ev->flags |= TK_FLAG_LOST_CLOCK;
    chrome_add_pending(r, (struct pending){e->ts.ps, r->t->n_events, 0, PENDING_EVENT});
  }
  if (e->has_bind_id && ev->kind != TK_EVENT_END) bound_point(r, e, r->t->n_events);
}

/* Sets the id of a flow whose id is local to its process: the local id and the pid, so that flows of other processes differ. The
 * object "id2" stays an arg of the point, from which the writer takes the id. */
static void set_local_id(struct chrome *r, struct tk_flow_point *f, const struct chrome_event *e) {
  struct json_value v;
  struct buf text = {.mem = &r->t->store->mem};
  char number[24];
  if (!local_id(r->t, e, &v)) return;
  buf_append(&text, v.type == JSON_STRING ? v.str.p : v.p, v.type == JSON_STRING ? v.str.n : (size_t)(v.end - v.p));
  buf_text(&text, "@");
  if (e->pid.kind == TK_IDENT_STR) buf_text(&text, tk_string(r->t, e->pid.str, NULL));
  else buf_append(&text, number, num_put_i64(number, e->pid.num));
  set_id(f, &(struct tk_arg){.type = TK_ARG_STR, .s = trace_string(r->t, text.data, text.len)});
  buf_free(&text);
}

static void emit_flow(struct chrome *r, const struct chrome_event *e, uint32_t args) {
  struct tk_flow_point *f;
  tk_time ts = 0;
  bool near;
  if (e->ts.kind != WHEN_OK) {
    drop_event(r, e, "flow event without a usable ts: dropped");
    return;
  }
  near = chrome_relative(r, e->ts.ps, &ts);
  f = trace_add_flow_point(r->t);
  f->ts = near ? ts : PENDING_TS;
  f->role = e->ph == 's' ? TK_FLOW_START : e->ph == 't' ? TK_FLOW_STEP : TK_FLOW_END;
  f->cls = chrome_class(r, e->name, e->cat);
  f->at = chrome_thread(r, e->pid, e->tid);
  if (e->has_id) set_id(f, &e->id);
  else set_local_id(r, f, e);
  f->enclosing = e->enclosing;
  const unsigned respelled = chrome_respelled(r, e, f->at);
  f->args = respelled ? chrome_with_respelled(r, args, respelled, e) : args;
  if (!near) chrome_add_pending(r, (struct pending){e->ts.ps, r->t->n_flow_points, 0, PENDING_FLOW});
}

/* Adds the samples of a counter that xprof prints as one event with entries:[[ts,value],...]: a sample for each pair. */
static void emit_entries(struct chrome *r, const struct chrome_event *e, uint32_t args, struct tk_arg entries) {
  struct tk_arg series;
  struct chrome_event sample = *e;
  struct json j = {.last = true};
  struct json_value ts, value;
  size_t n;
  bool named = tk_args_find(r->t, args, "json.event_stats", &series) && series.type == TK_ARG_STR;
  tk_id key = named ? series.s : trace_text(r->t, "value");
  j.p = (const uint8_t *)tk_string(r->t, entries.s, &n);
  j.end = j.p + n;
  for (j.p++; j.p < j.end && *j.p == '['; j.p += *j.p == ',') {
    j.p++;
    if (!json_value(&j, &ts) || *j.p++ != ',' || !json_value(&j, &value) || *j.p++ != ']') break;
    sample.ts.kind = num_scaled(ts.p, ts.end, 6, &sample.ts.ps) ? WHEN_OK : WHEN_BAD;
    if (value.type != JSON_NUMBER) {
      drop_event(r, e, "counter entry is not a number: dropped");
      continue;
    }
    args_begin(r->t);
    if (value.num.kind == NUM_INT) args_int(r->t, key, value.num.mant);
    else if (value.num.kind == NUM_DEC) args_decimal(r->t, key, value.num.mant, value.num.exp);
    else args_str(r->t, key, TK_ARG_NUMBER, trace_string(r->t, value.p, (size_t)(value.end - value.p)));
    emit_event(r, &sample, args_end(r->t));
  }
  trace_note(r->t, TK_NOTE_REPAIR, e->offset, "counter with 'entries' instead of 'ts': expanded to samples");
}

static void note_phase(struct chrome *r, const struct chrome_event *e) {
  char text[64] = "event whose phase is not one letter: kept, but not interpreted";
  if (e->ph && strchr("MPNODVvc()=I", e->ph)) return;
  if (e->ph) {
    memcpy(text, "unknown phase '?': kept as it is", 33);
    text[15] = e->ph > 0x20 && e->ph < 0x7f ? (char)e->ph : '?';
  }
  trace_note(r->t, TK_NOTE_REPAIR, e->offset, text);
}

void chrome_add_event(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from) {
  enum phase phase = PHASES[e->ph];
  const char *why = phase >= PHASE_FLOW ? unusable(r->t, e) : NULL;
  struct tk_arg entries;
  r->t->counts.by_phase[e->ph]++;
  if (phase == PHASE_INSTANT && is_profile(r->t, e)) phase = PHASE_RECORD;
  if (phase == PHASE_RECORD || why) {
    if (why) trace_note(r->t, TK_NOTE_REPAIR, e->offset, why);
    else note_phase(r, e);
    chrome_record(r, e, args, from);
  } else if (phase == PHASE_FLOW) {
    emit_flow(r, e, args);
  } else if (phase == PHASE_COUNTER && e->ts.kind == WHEN_NONE && tk_args_find(r->t, args, "json.entries", &entries) &&
             entries.type == TK_ARG_JSON) {
    emit_entries(r, e, args, entries);
  } else {
    emit_event(r, e, args);
  }
}
