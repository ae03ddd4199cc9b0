/* read_track_event.c - TrackEvent -> event, counter samples, flow points.
 *
 * Which track an event is on: its own uuid, else the sequence's default, else (old traces) the thread that the sequence's thread
 * descriptor or the event itself names, else the global track 0.  Phases of Chrome's older events (legacy_event.phase) are read as
 * the Chrome JSON reader reads them. */
#include <stdio.h>
#include <string.h>

#include "format/pb_out.h"
#include "graph/seal.h"
#include "reader.h"

enum { CATEGORIES_MOST = 64 };

/* A TrackEvent as it was read; its annotations are in the trace's arg builder. */
/* Samples of counters that come with an event.  Of those that there are not nothing is cleared: it would be a tenth of an event. */
struct extra_counters {
  struct uuid_list uuids, double_uuids;
  int64_t values[EXTRA_COUNTERS];
  double doubles[EXTRA_COUNTERS];
  uint32_t n_values, n_doubles;
};

struct track_event {
  struct extra_counters *extra;
  uint64_t type, track_uuid;
  bool has_type, has_track, has_args, has_legacy, has_value, has_double, has_delta, has_absolute, has_correlation;
  uint32_t n_categories;
  tk_id name, cat, correlation;
  int64_t value, delta_us, absolute_us, thread_us;
  bool has_thread_us;
  double double_value;
  uint64_t correlation_id;
  char phase;
  int64_t dur_us, pid, tid;
  bool has_pid, has_tid, enclosing;
  uint32_t id_field; /* of the legacy id that is set */
  uint64_t id, bind_id, direction, scope;
  tk_id id_scope;
  uint32_t first_point;
  bool damaged;
  uint32_t node;
  int64_t ns;
};

/* ---- reading ---- */

static void add_category(struct perfetto *r, struct track_event *e, tk_id id) {
  size_t n;
  const char *p = tk_string(r->t, e->cat, &n);
  if (e->n_categories++ == 0) {
    e->cat = id;
    return;
  }
  if (e->n_categories > CATEGORIES_MOST) return;
  r->text.len = 0;
  buf_append(&r->text, p, n);
  buf_append(&r->text, ",", 1);
  p = tk_string(r->t, id, &n);
  buf_append(&r->text, p, n);
  e->cat = trace_string(r->t, r->text.data, r->text.len);
}

static void add_raw_point(struct perfetto *r, uint64_t id, bool terminating) {
  if (!mem_grow(&r->t->store->mem, (void **)&r->points, &r->cap_points, (uint64_t)r->n_points + 1, sizeof *r->points)) return;
  r->points[r->n_points] = (struct raw_point){.id = id, .order = r->n_points, .terminating = terminating};
  r->n_points++;
}

/* Repeated numbers, packed or not. */
typedef void (*number_fn)(void *to, uint64_t v);
static void numbers(const struct pb_field *f, number_fn put, void *to) {
  struct pb c = pb_inside(f);
  uint64_t v;
  if (f->wire != PB_BYTES) {
    put(to, f->value);
    return;
  }
  while (c.p < c.end && pb_varint(&c, &v)) put(to, v);
}

static void put_extra(void *to, uint64_t v) {
  struct extra_counters *e = to;
  if (e->n_values < EXTRA_COUNTERS) e->values[e->n_values++] = (int64_t)v;
}
static void put_uuid(void *to, uint64_t v) {
  struct uuid_list *l = to;
  if (l->n < EXTRA_COUNTERS) l->uuid[l->n++] = v;
}

/* legacy_event: fields that JSON events have under other names.  What is not modelled stays a legacy event of its own. */
static void read_legacy(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  e->has_legacy = true;
  r->copy.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(LEGACY_NAME_IID, PB_VARINT): e->name = sequence_text(r, q, IID_NAME, g.value); break;
    case PB_KEY(LEGACY_PHASE, PB_VARINT): e->phase = g.value > 0x20 && g.value < 0x7f ? (char)g.value : 0; break;
    case PB_KEY(LEGACY_DURATION_US, PB_VARINT): e->dur_us = (int64_t)g.value; break;
    case PB_KEY(LEGACY_UNSCOPED_ID, PB_VARINT):
    case PB_KEY(LEGACY_LOCAL_ID, PB_VARINT):
    case PB_KEY(LEGACY_GLOBAL_ID, PB_VARINT):
      e->id_field = g.number;
      e->id = g.value;
      break;
    case PB_KEY(LEGACY_ID_SCOPE, PB_BYTES): e->id_scope = perfetto_field_text(r, &g); break;
    case PB_KEY(LEGACY_BIND_ID, PB_VARINT): e->bind_id = g.value; break;
    case PB_KEY(LEGACY_BIND_TO_ENCLOSING, PB_VARINT): e->enclosing = g.value != 0; break;
    case PB_KEY(LEGACY_FLOW_DIRECTION, PB_VARINT): e->direction = g.value; break;
    case PB_KEY(LEGACY_INSTANT_SCOPE, PB_VARINT): e->scope = g.value; break;
    case PB_KEY(LEGACY_PID_OVERRIDE, PB_VARINT): e->pid = (int64_t)g.value, e->has_pid = true; break;
    case PB_KEY(LEGACY_TID_OVERRIDE, PB_VARINT): e->tid = (int64_t)g.value, e->has_tid = true; break;
    default: buf_append(&r->copy, from, (size_t)(c.p - from));
    }
  }
  if (r->copy.len) pb_message(&r->fields, EVENT_LEGACY, &r->copy);
}

/* It is an arg for other formats and a field for this one, absolute in any case. */
/* Deltas of a damaged file wrap around. */
static int64_t sum(int64_t total, uint64_t delta) { return (int64_t)((uint64_t)total + delta); }

static void set_thread_time(struct perfetto *r, struct track_event *e, int64_t us) {
  e->thread_us = us;
  e->has_thread_us = true;
  pb_i64(&r->fields, EVENT_THREAD_TIME_ABSOLUTE_US, us);
}

/* False: it is not modelled. */
static bool read_rare_field(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb c;
  uint64_t v;
  switch (pb_field_key(f)) {
  case PB_KEY(EVENT_FLOW_IDS_OLD, PB_VARINT):
  case PB_KEY(EVENT_FLOW_IDS, PB_FIXED64): add_raw_point(r, f->value, false); break;
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS_OLD, PB_VARINT):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS, PB_FIXED64): add_raw_point(r, f->value, true); break;
  case PB_KEY(EVENT_FLOW_IDS_OLD, PB_BYTES):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS_OLD, PB_BYTES):
    for (c = pb_inside(f); c.p < c.end && pb_varint(&c, &v);) add_raw_point(r, v, f->number == EVENT_TERMINATING_FLOW_IDS_OLD);
    break;
  case PB_KEY(EVENT_FLOW_IDS, PB_BYTES):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS, PB_BYTES):
    for (c = pb_inside(f); c.end - c.p >= 8; c.p += 8) {
      v = 0;
      for (int i = 7; i >= 0; i--) v = v << 8 | c.p[i];
      add_raw_point(r, v, f->number == EVENT_TERMINATING_FLOW_IDS);
    }
    break;
  case PB_KEY(EVENT_EXTRA_VALUES, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_VALUES, PB_BYTES): numbers(f, put_extra, e->extra); break;
  case PB_KEY(EVENT_EXTRA_UUIDS, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_UUIDS, PB_BYTES): numbers(f, put_uuid, &e->extra->uuids); break;
  case PB_KEY(EVENT_EXTRA_DOUBLE_UUIDS, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_DOUBLE_UUIDS, PB_BYTES): numbers(f, put_uuid, &e->extra->double_uuids); break;
  case PB_KEY(EVENT_EXTRA_DOUBLE_VALUES, PB_FIXED64):
    if (e->extra->n_doubles < EXTRA_COUNTERS) e->extra->doubles[e->extra->n_doubles++] = pb_as_double(f->value);
    break;
  case PB_KEY(EVENT_CORRELATION_ID, PB_VARINT):
    e->has_correlation = true;
    e->correlation_id = f->value;
    break;
  case PB_KEY(EVENT_CORRELATION_ID_STR, PB_BYTES): e->correlation = perfetto_field_text(r, f); break;
  case PB_KEY(EVENT_CORRELATION_ID_IID, PB_VARINT): e->correlation = sequence_text(r, q, IID_CORRELATION, f->value); break;
  case PB_KEY(EVENT_THREAD_TIME_DELTA_US, PB_VARINT):
    set_thread_time(r, e, q->thread_us = sum(q->thread_us, f->value));
    break;
  case PB_KEY(EVENT_INSTRUCTIONS_DELTA, PB_VARINT): /* stands by itself when it is absolute */
    q->instructions = sum(q->instructions, f->value);
    pb_i64(&r->fields, EVENT_INSTRUCTIONS_ABSOLUTE, q->instructions);
    break;
  default: return false;
  }
  return true;
}

static void more_args(struct perfetto *r, struct track_event *e) {
  if (!e->has_args) args_begin(r->t);
  e->has_args = true;
}

/* r->fields: what is not modelled, and extensions. */
static bool read_fields(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  const uint8_t *from;
  r->fields.len = 0;
  for (from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(EVENT_TYPE, PB_VARINT): e->type = g.value, e->has_type = g.value != TYPE_UNSPECIFIED; break;
    case PB_KEY(EVENT_TRACK_UUID, PB_VARINT): e->track_uuid = g.value, e->has_track = true; break;
    case PB_KEY(EVENT_NAME_IID, PB_VARINT): e->name = sequence_text(r, q, IID_NAME, g.value); break;
    case PB_KEY(EVENT_NAME, PB_BYTES): e->name = perfetto_field_text(r, &g); break;
    case PB_KEY(EVENT_CATEGORY_IIDS, PB_VARINT): add_category(r, e, sequence_text(r, q, IID_CATEGORY, g.value)); break;
    case PB_KEY(EVENT_CATEGORIES, PB_BYTES): add_category(r, e, perfetto_field_text(r, &g)); break;
    case PB_KEY(EVENT_CATEGORY_IIDS, PB_BYTES): {
      struct pb in = pb_inside(&g);
      uint64_t v;
      while (in.p < in.end && pb_varint(&in, &v)) add_category(r, e, sequence_text(r, q, IID_CATEGORY, v));
      break;
    }
    case PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES):
      more_args(r, e);
      perfetto_annotation(r, q, &g);
      break;
    case PB_KEY(EVENT_LEGACY, PB_BYTES): read_legacy(r, q, e, &g); break;
    case PB_KEY(EVENT_COUNTER_VALUE, PB_VARINT):
      e->value = (int64_t)g.value;
      e->has_value = true;
      e->has_double = false;
      break;
    case PB_KEY(EVENT_DOUBLE_COUNTER_VALUE, PB_FIXED64):
      e->double_value = pb_as_double(g.value);
      e->has_double = true;
      e->has_value = false;
      break;
    case PB_KEY(EVENT_TIMESTAMP_DELTA_US, PB_VARINT): e->delta_us = (int64_t)g.value, e->has_delta = true; break;
    case PB_KEY(EVENT_TIMESTAMP_ABSOLUTE_US, PB_VARINT): e->absolute_us = (int64_t)g.value, e->has_absolute = true; break;
    case PB_KEY(EVENT_THREAD_TIME_ABSOLUTE_US, PB_VARINT): set_thread_time(r, e, (int64_t)g.value); break;
    default:
      if (g.number >= EVENT_FIRST_EXTENSION || !read_rare_field(r, q, e, &g)) buf_append(&r->fields, from, (size_t)(c.p - from));
    }
  }
  return !c.fault;
}

/* ---- time and track ---- */

static bool time_of(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e, int64_t *ns,
                    uint32_t *pending) {
  bool known = true;
  *pending = 0;
  if (k->has_timestamp || clock_counts_on(r, q, k)) {
    if (!k->has_timestamp) perfetto_damage(r, "track event without a time, which is that of the packet before");
    known = clock_time(r, q, k, ns, pending);
  } else if (e->has_delta || e->has_absolute) {
    if (e->has_delta) q->time_us += e->delta_us;
    int64_t us = e->has_delta ? q->time_us : e->absolute_us;
    if (us > INT64_MAX / 1000 || us < 0) return false;
    uint32_t clock = clock_builtin(r, k->machine, CLOCK_MONOTONIC);
    clock_to_trace(r, clock, us * 1000, ns); /* without a snapshot, as it is */
  } else {
    return false;
  }
  if (known) *pending = 0;
  return *ns >= 0 || r->has_snapshot;
}

static uint32_t node_of(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e) {
  uint64_t uuid = e->has_track ? e->track_uuid : q->has_track ? q->default_track : 0;
  bool legacy_track = (!e->has_track || !e->has_type) && q->has_thread;
  if (e->has_pid || (e->has_tid && q->has_thread))
    return node_of_thread(r, k->machine, e->has_pid ? e->pid : q->pid, e->has_tid ? e->tid : q->has_thread ? q->tid : e->pid);
  if (uuid) return node_of_uuid(r, q, k->machine, uuid);
  if (legacy_track) return node_of_thread(r, k->machine, q->pid, q->tid);
  return node_of_uuid(r, q, k->machine, 0);
}

/* ---- args that are fields ---- */

static void identity_args(struct perfetto *r, struct track_event *e, bool with_phase) {
  struct tk_trace *t = r->t;
  char text[64];
  more_args(r, e);
  if (e->id_field == LEGACY_UNSCOPED_ID || e->id_field == 0) {
    args_int(t, KEY_ID, (int64_t)e->id);
  } else {
    const char *scope = e->id_field == LEGACY_LOCAL_ID ? "local" : "global";
    int n = snprintf(text, sizeof text, "{\"%s\":\"0x%llx\"}", scope, (unsigned long long)e->id);
    args_str(t, KEY_ID2, TK_ARG_JSON, trace_string(t, text, (size_t)n));
  }
  if (e->id_scope) args_str(t, KEY_SCOPE, TK_ARG_STR, e->id_scope);
  if (with_phase) args_str(t, KEY_PH, TK_ARG_STR, trace_string(t, &e->phase, 1));
}

/* Fields that the file describes become args; the others stay bytes, in one arg. */
static void extension_fields(struct perfetto *r, const struct sequence *q, struct track_event *e) {
  uint32_t n;
  struct extension_reader *x = &r->extensions;
  const struct member *members = extension_read(x, &r->fields, &n);
  const struct buf *rest = n ? &x->rest : &r->fields;
  more_args(r, e);
  r->n_bytes += extension_args(x, members, n, r->t);
  if (rest->len) args_str(r->t, KEY_PERFETTO_FIELDS, TK_ARG_BYTES, perfetto_bytes(r, rest->data, rest->len));
  uint32_t interned = sequence_interned(r, q);
  if (interned) args_int(r->t, r->interned_key, interned);
}

static void field_args(struct perfetto *r, const struct sequence *q, struct track_event *e) {
  struct tk_trace *t = r->t;
  if (e->has_correlation || e->correlation) more_args(r, e);
  if (e->has_correlation) args_uint(t, KEY_PERFETTO_CORRELATION, TK_ARG_UINT, e->correlation_id);
  else if (e->correlation) args_str(t, KEY_PERFETTO_CORRELATION, TK_ARG_STR, e->correlation);
  if (e->has_thread_us) {
    more_args(r, e);
    args_int(t, trace_text(t, "json.tts"), e->thread_us);
  }
  if (r->fields.len) extension_fields(r, q, e);
}

/* ---- counters ---- */

static void extra_counters(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e,
                           struct counter_sample sample) {
  const struct extra_counters *x = e->extra;
  const struct uuid_list *ints = x->uuids.n ? &x->uuids : &q->extra, *doubles = x->double_uuids.n ? &x->double_uuids : &q->extra_double;
  for (uint32_t i = 0; i < x->n_values && i < ints->n; i++) {
    sample.value = (struct tk_arg){.type = TK_ARG_INT, .i = x->values[i]};
    sample.node = node_of_uuid(r, q, k->machine, ints->uuid[i]);
    perfetto_sample(r, &sample);
  }
  for (uint32_t i = 0; i < x->n_doubles && i < doubles->n; i++) {
    sample.value = (struct tk_arg){.type = TK_ARG_DOUBLE, .d = x->doubles[i]};
    sample.node = node_of_uuid(r, q, k->machine, doubles->uuid[i]);
    perfetto_sample(r, &sample);
  }
}

/* A counter has no name of its events and no args: these stay fields. */
static void counter_fields(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e,
                           struct counter_sample *sample) {
  struct pb c = pb_inside(&k->event);
  struct pb_field f;
  if (e->name) pb_bytes(&r->fields, EVENT_NAME, trace_str(r->t, e->name)->bytes, trace_str(r->t, e->name)->len);
  while (e->has_args && pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES)) perfetto_plain_annotation(r, q, &f, &r->fields);
  if (r->fields.len == 0) return;
  sample->fields = perfetto_bytes(r, r->fields.data, r->fields.len);
  sample->interned = sequence_interned(r, q);
}

static void counter_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e,
                          struct counter_sample sample) {
  sample.value = (struct tk_arg){.type = e->has_double ? TK_ARG_DOUBLE : TK_ARG_INT, .i = e->value};
  if (e->has_double) sample.value.d = e->double_value;
  if (!e->has_value && !e->has_double) {
    perfetto_note(r, TK_NOTE_REPAIR, "counter event without a value: dropped");
    r->t->counts.dropped++;
    return;
  }
  counter_fields(r, q, k, e, &sample);
  if (e->has_double && e->double_value != e->double_value) perfetto_note(r, TK_NOTE_INFO, "counter values that are not numbers");
  if (k->private_fields.p) perfetto_private_sample(r, q, k, &sample);
  else perfetto_sample(r, &sample);
}

/* ---- events ---- */

/* Of the old phases; seal pairs them by their identity. */
static bool is_async(const struct track_event *e) { return !e->has_type && e->phase && strchr("bneSTpF", e->phase) != NULL; }

static enum tk_kind kind_of(const struct track_event *e, bool *known) {
  *known = true;
  if (e->has_type) {
    if (e->type == TYPE_SLICE_BEGIN) return TK_BEGIN;
    if (e->type == TYPE_SLICE_END) return TK_END;
    if (e->type == TYPE_INSTANT) return TK_INSTANT;
    *known = e->type == TYPE_COUNTER;
    return TK_COUNTER;
  }
  switch (e->phase) {
  case 'X': return TK_SPAN;
  case 'B':
  case 'b':
  case 'S': return TK_BEGIN;
  case 'E':
  case 'e':
  case 'F': return TK_END;
  case 'i':
  case 'I':
  case 'R':
  case 'n':
  case 'T':
  case 'p': return TK_INSTANT;
  case 'C': return TK_COUNTER;
  default: *known = false; return TK_INSTANT;
  }
}

static enum aspect aspect_of(const struct track_event *e, enum tk_kind kind) {
  if (is_async(e)) return ON_ASYNCS;
  if (kind != TK_INSTANT || e->has_type) return ON_TRACK;
  return e->scope == 1 ? ON_GLOBAL : e->scope == 2 ? ON_PROCESS : ON_TRACK;
}

/* Flow points that the event's fields named are bound to it. */
static void bind_raw_points(struct perfetto *r, const struct track_event *e, const struct tk_event *ev, tk_id id, bool at_end) {
  for (uint32_t i = e->first_point; i < r->n_points; i++) {
    r->points[i].event = id;
    r->points[i].ts = ev->ts;
    r->points[i].site = ev->track;
    r->points[i].at_end = at_end;
  }
}

static void legacy_flow(struct perfetto *r, uint32_t node, const struct track_event *e, int64_t ns, uint32_t pending) {
  struct tk_flow_point *f = trace_add_flow_point(r->t);
  f->ts = ns;
  f->role = e->phase == 's' ? TK_FLOW_START : e->phase == 't' ? TK_FLOW_STEP : TK_FLOW_END;
  f->cls = trace_class(r->t, e->name, e->cat);
  f->id = (int64_t)(e->id_field ? e->id : e->bind_id);
  f->at = node * ASPECTS + ON_TRACK;
  f->enclosing = e->enclosing;
  if (e->has_args) f->args = args_end(r->t);
  if (pending) perfetto_add_pending(r, (struct pending_time){pending, r->t->n_flow_points, true});
}

/* Is it a span that came whole, by the private fields of its begin? */
static bool came_whole(const struct packet *k) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_WHOLE, PB_VARINT)) return f.value != 0;
  return false;
}

/* Until seal gives it one, the depth of a begin on a track of FORM_MIXED says whether it came whole. */
enum { CAME_WHOLE = 1 };

/* Tracks that our writer made hold their packets in order: spans are paired as they come, and come out as they were.  False: seal
 * has to pair what came as a begin and an end. */
static bool close_open(struct perfetto *r, const struct sequence *q, struct track_event *e) {
  struct tk_trace *t = r->t;
  struct node *n = &r->nodes[e->node];
  struct tk_event *begin = &t->events[n->open];
  tk_id id = n->open;
  if (!id) return false;
  const bool is_lane = n->form & FORM_LANE, whole = n->form & FORM_COMPLETE || begin->depth == CAME_WHOLE;
  n->open = (tk_id)begin->dur;
  if (n->form & FORM_MIXED && !is_lane && !whole) return false;
  begin->depth = 0;
  field_args(r, q, e);
  struct tk_event end = {.ts = e->ns, .cls = trace_class(t, e->name, e->cat), .args = e->has_args ? args_end(t) : 0};
  for (uint32_t i = e->first_point; i < r->n_points; i++) r->points[i].event = id;
  if (n->form & FORM_ASYNC || (is_lane && !whole)) {
    seal_close(t, begin, &end);
  } else {
    begin->kind = TK_SPAN;
    begin->dur = e->ns > begin->ts ? e->ns - begin->ts : 0;
  }
  t->counts.by_phase['E']++;
  return true;
}

static const char PHASES[] = {[TK_SPAN] = 'X', [TK_INSTANT] = 'i', [TK_COUNTER] = 'C', [TK_BEGIN] = 'B', [TK_END] = 'E'};

/* Whose the instant is, as JSON says it: of all, of its process; nothing for that of a thread or of another track. */
static void scope_arg(struct perfetto *r, struct track_event *e, uint32_t node) {
  bool global = aspect_of(e, TK_INSTANT) == ON_GLOBAL || r->nodes[node].form & FORM_GLOBAL;
  bool process = aspect_of(e, TK_INSTANT) == ON_PROCESS || r->nodes[node].kind == NODE_PROCESS;
  if (!global && !process) return;
  more_args(r, e);
  args_str(r->t, KEY_SCOPE_OF_INSTANT, TK_ARG_STR, trace_text(r->t, global ? "g" : "p"));
}

/* Our writer puts the identity of an async event among its args; damage may have hit it. */
static void require_identity(struct perfetto *r, struct track_event *e) {
  more_args(r, e);
  if (args_hold(r->t, KEY_ID) || args_hold(r->t, KEY_ID2)) return;
  args_int(r->t, KEY_ID, 0);
  perfetto_note(r, TK_NOTE_REPAIR, "async event without its id: taken as 0");
}

static void add_event(struct perfetto *r, const struct sequence *q, const struct packet *k, struct track_event *e, enum tk_kind kind) {
  struct tk_trace *t = r->t;
  uint32_t node = e->node;
  struct tk_event *ev;
  bool pairs = r->nodes[node].form & (FORM_COMPLETE | FORM_MIXED | FORM_ASYNC | FORM_LANE), async = is_async(e);
  if (pairs && kind == TK_END && close_open(r, q, e)) return;
  if (async) identity_args(r, e, strchr("STpF", e->phase) != NULL);
  else if (r->nodes[node].form & FORM_ASYNC) require_identity(r, e);
  field_args(r, q, e);
  if (kind == TK_INSTANT && !async) scope_arg(r, e, node);
  uint32_t args = e->has_args ? args_end(t) : 0;
  ev = trace_add_event(t);
  ev->ts = e->ns;
  ev->kind = (uint8_t)kind;
  ev->cls = trace_class(t, e->name, e->cat);
  ev->args = args;
  ev->flags = (async ? TK_ASYNC : 0) | (e->damaged ? TK_REPAIRED : 0);
  ev->track = node * ASPECTS + (uint32_t)aspect_of(e, kind);
  if (kind == TK_SPAN && e->dur_us > 0 && e->dur_us < INT64_MAX / 1000) ev->dur = e->dur_us * 1000;
  if (r->nodes[node].form & FORM_ASYNC) ev->flags |= TK_ASYNC, ev->track = node * ASPECTS + ON_ASYNCS;
  if (r->nodes[node].form & FORM_GLOBAL && kind == TK_INSTANT && !(ev->flags & TK_ASYNC))
    ev->track = node_process(r, node) * ASPECTS + ON_PROCESS;
  if (r->nodes[node].form & FORM_LANE) ev->track = node_parent(r, node) * ASPECTS + ON_TRACK;
  if (kind == TK_COUNTER) ev->track = node * ASPECTS + ON_PROCESS;
  if (!async && kind != TK_INSTANT && kind != TK_COUNTER) r->nodes[node].has_slices = true;
  r->nodes[node].has_events = true;
  if (!r->nodes[node].first_name && e->name) r->nodes[node].first_name = e->name;
  bind_raw_points(r, e, ev, t->n_events, kind == TK_END);
  if (pairs && kind == TK_BEGIN) {
    ev->dur = r->nodes[node].open;
    r->nodes[node].open = t->n_events;
    if (r->nodes[node].form & FORM_MIXED && came_whole(k)) ev->depth = CAME_WHOLE;
  }
  t->counts.by_phase[(unsigned char)PHASES[kind]]++;
}

/* What the graph has no place for stays a packet. */
static void leave_event(struct perfetto *r, const struct packet *k, const struct track_event *e) {
  uint32_t node = e->has_track ? node_find(r, k->machine, e->track_uuid) : 0;
  r->n_points = e->first_point;
  if (node) r->nodes[node].has_events = true;
}

void perfetto_track_event(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct extra_counters extra;
  struct track_event e = {.first_point = r->n_points, .extra = &extra};
  struct tk_trace *t = r->t;
  uint32_t node, pending;
  int64_t ns = 0;
  bool known;
  t->counts.read++;
  extra.uuids.n = extra.double_uuids.n = extra.n_values = extra.n_doubles = 0;
  e.damaged = !read_fields(r, q, &e, &k->event) || k->damaged;
  if (e.damaged && !e.has_type && !e.has_legacy) {
    r->n_points = e.first_point;
    t->counts.dropped++;
    perfetto_damage(r, "damaged track event: dropped");
    return;
  }
  if (e.damaged && !k->damaged) perfetto_damage(r, "damaged track event, read as far as it goes");
  if (!time_of(r, q, k, &e, &ns, &pending)) {
    leave_event(r, k, &e);
    passthrough_untimed(r, q, k, !e.damaged);
    return;
  }
  enum tk_kind kind = kind_of(&e, &known);
  bool flow = !e.has_type && e.phase && strchr("stf", e.phase);
  if (!known && !flow) {
    leave_event(r, k, &e);
    if (e.damaged) t->counts.dropped++;
    else passthrough_event(r, q, k, clock_of_sequence(q, k) ? &ns : NULL);
    perfetto_note(r, TK_NOTE_INFO, "track events of types that are not read, such as states: for Perfetto output alone");
    return;
  }
  if ((node = node_of(r, q, k, &e)) == 0) return;
  if (r->n_points > e.first_point || k->private_fields.p)
    perfetto_points(r, q, k, &(struct flow_site){node, e.cat, ns, e.first_point, kind == TK_BEGIN || kind == TK_INSTANT});
  if (e.bind_id && e.direction && !flow) {
    add_raw_point(r, e.bind_id ^ 1ull << 63, e.direction == 1);
    if (r->n_points) r->points[r->n_points - 1].direction = (uint8_t)(e.direction & 3);
  }
  if (flow) {
    legacy_flow(r, node, &e, ns, pending);
    return;
  }
  e.node = node;
  e.ns = ns;
  struct counter_sample sample = {.node = node, .pending = pending, .cat = e.cat, .ns = ns};
  if (kind == TK_COUNTER && e.has_type) {
    r->n_points = e.first_point;
    counter_event(r, q, k, &e, sample);
  } else {
    add_event(r, q, k, &e, kind);
    if (pending) perfetto_add_pending(r, (struct pending_time){pending, t->n_events, false});
  }
  if (extra.n_values + extra.n_doubles) extra_counters(r, q, k, &e, sample);
}
