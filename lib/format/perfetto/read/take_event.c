/* take_event.c - converts a struct track_event to an event, counter samples and flow points.
 *
 * The track of an event is found by its own uuid, otherwise by the default uuid of the sequence, otherwise (in old traces) by
 * the thread in the sequence's thread descriptor or in the event itself. If there is none of these, it is the global track 0.
 * Phases of Chrome's legacy events (legacy_event.phase) have the same meaning as in Chrome JSON. */
#include <stdio.h>
#include <string.h>

#include "take_event.h"
#include "format/pb_out.h"
#include "graph/seal.h"
#include "track_event.h"
#include "decoded_args.h"
#include "args.h"
#include "clock.h"
#include "counters.h"
#include "extension.h"
#include "extra.h"
#include "flow_points.h"
#include "gpu_flows.h"
#include "passthrough.h"
#include "sequence.h"
#include "track.h"
#include "graph/args.h"

/* ---- time and track ---- */

static bool time_of(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e, int64_t *ns,
                    uint32_t *pending) {
  bool known = true;
  *pending = 0;
  if (k->has_timestamp || clock_counts_on(r, q, k)) {
    if (!k->has_timestamp) perfetto_damage(r, "track event without a time: using that of the packet before");
    known = clock_time(r, q, k, ns, pending);
  } else if (e->has_delta || e->has_absolute) {
    if (e->has_delta) q->time_us += e->delta_us;
    int64_t us = e->has_delta ? q->time_us : e->absolute_us;
    if (us > INT64_MAX / 1000 || us < 0) return false;
    uint32_t clock = clock_builtin(r, k->machine, CLOCK_MONOTONIC);
    clock_to_trace(r, clock, us * 1000, ns); /* without a snapshot, the time stays unchanged */
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
    return track_node_of_thread(r, k->machine, e->has_pid ? e->pid : q->pid, e->has_tid ? e->tid : q->has_thread ? q->tid : e->pid);
  if (uuid) return track_node_of_uuid(r, q, k->machine, uuid);
  if (legacy_track) return track_node_of_thread(r, k->machine, q->pid, q->tid);
  return track_node_of_uuid(r, q, k->machine, 0);
}

/* ---- args that are fields ---- */

static void identity_args(struct perfetto *r, struct sequence *q, struct track_event *e, bool with_phase) {
  struct tk_trace *t = r->t;
  char text[64];
  decoded_event_args(r, q, e);
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

/* Adds an arg for each field that the file itself describes, and one arg with the bytes of all other fields. */
static void extension_fields(struct perfetto *r, struct sequence *q, struct track_event *e) {
  uint32_t n;
  struct extension_reader *x = &r->extensions;
  const struct member *members = extension_read(x, &r->fields, &n);
  const struct buf *rest = n ? &x->rest : &r->fields;
  decoded_event_args(r, q, e);
  r->n_bytes += extension_args(x, members, n, r->filed ? FILED_FIELD : "", r->t);
  if (rest->len) args_str(r->t, KEY_PERFETTO_FIELDS, TK_ARG_BYTES, perfetto_bytes(r, rest->data, rest->len));
  uint32_t interned = sequence_interned(r, q);
  if (interned) args_int(r->t, r->interned_key, interned);
}

/* Adds the correlation in the form in which trace_processor shows it. */
static void filed_correlation(struct perfetto *r, const struct track_event *e) {
  const tk_id key = trace_text(r->t, FILED_FIELD "correlation_id");
  char text[32];
  const int n = snprintf(text, sizeof text, "tp:#%llu", (unsigned long long)e->correlation_id);
  args_str(r->t, key, TK_ARG_STR, e->has_correlation ? trace_string(r->t, text, (size_t)n) : e->correlation);
}

/* Adds the CPU time of the thread in us, and its instructions, in the form of Chrome JSON. */
static void thread_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  const bool has_time = e->has_thread_us || e->has_thread_ns;
  if (!has_time && !e->has_instructions) return;
  const tk_id time = has_time ? trace_text(r->t, THREAD_TIME_ARG) : 0;
  decoded_event_args(r, q, e);
  const int64_t us = e->has_thread_us ? e->thread_us : e->thread_ns / 1000;
  if (e->has_thread_us || (has_time && e->thread_ns % 1000 == 0)) args_int(r->t, time, us);
  else if (has_time) args_decimal(r->t, time, e->thread_ns, -3);
  if (e->has_instructions) args_int(r->t, trace_text(r->t, INSTRUCTIONS_ARG), e->instructions);
}

static void add_field_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  struct tk_trace *t = r->t;
  if (e->has_correlation || e->correlation) decoded_event_args(r, q, e);
  if (r->filed && (e->has_correlation || e->correlation)) filed_correlation(r, e);
  else if (e->has_correlation) args_uint(t, KEY_PERFETTO_CORRELATION, TK_ARG_UINT, e->correlation_id);
  else if (e->correlation) args_str(t, KEY_PERFETTO_CORRELATION, TK_ARG_STR, e->correlation);
  thread_args(r, q, e);
  if (r->types.len) {
    decoded_event_args(r, q, e);
    perfetto_types_arg(r);
  }
  if (r->fields.len) extension_fields(r, q, e);
}

static inline void field_args(struct perfetto *r, struct sequence *q, struct track_event *e) {
  const bool has_thread = e->has_thread_us || e->has_thread_ns || e->has_instructions;
  if (e->has_correlation || e->correlation || has_thread || r->types.len || r->fields.len) add_field_args(r, q, e);
}

/* ---- counters ---- */

/* Keeps the name and the annotations of a counter event as fields, because a counter sample in the graph has neither name nor
 * args. */
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
  if (e->has_double && e->double_value != e->double_value) perfetto_note(r, TK_NOTE_INFO, "counter values that are NaN");
  if (k->private_fields.p) perfetto_private_sample(r, q, k, &sample);
  else perfetto_sample(r, &sample);
}

/* ---- events ---- */

/* True for legacy async phases; seal pairs events of these phases by identity. */
static bool is_async(const struct track_event *e) { return !e->has_type && e->phase && strchr("bneSTpF", e->phase) != NULL; }

static enum tk_kind kind_of(const struct track_event *e, bool *known) {
  *known = true;
  if (e->has_type) {
    if (e->type == TYPE_SLICE_BEGIN) return TK_EVENT_BEGIN;
    if (e->type == TYPE_SLICE_END) return TK_EVENT_END;
    if (e->type == TYPE_INSTANT) return TK_EVENT_INSTANT;
    *known = e->type == TYPE_COUNTER;
    return TK_EVENT_COUNTER;
  }
  switch (e->phase) {
  case 'X': return TK_EVENT_SPAN;
  case 'B':
  case 'b':
  case 'S': return TK_EVENT_BEGIN;
  case 'E':
  case 'e':
  case 'F': return TK_EVENT_END;
  case 'i':
  case 'I':
  case 'R':
  case 'n':
  case 'T':
  case 'p': return TK_EVENT_INSTANT;
  case 'C': return TK_EVENT_COUNTER;
  default: *known = false; return TK_EVENT_INSTANT;
  }
}

static enum aspect aspect_of(const struct track_event *e, enum tk_kind kind) {
  if (is_async(e)) return ON_ASYNCS;
  if (kind != TK_EVENT_INSTANT || e->has_type) return ON_TRACK;
  return e->scope == 1 ? ON_GLOBAL : e->scope == 2 ? ON_PROCESS : ON_TRACK;
}

/* Binds the flow points in the fields of an event to the event. */
static void bind_raw_points(struct perfetto *r, const struct track_event *e, const struct tk_event *ev, tk_id id, bool at_end) {
  for (uint32_t i = e->first_point; i < r->n_points; i++) {
    r->points[i].event = id;
    r->points[i].ts = ev->ts;
    r->points[i].site = ev->track;
    r->points[i].at_end = at_end;
  }
}

static void legacy_flow(struct perfetto *r, struct sequence *q, struct track_event *e, uint32_t pending) {
  struct tk_flow_point *f = trace_add_flow_point(r->t);
  f->ts = e->ns;
  f->role = e->phase == 's' ? TK_FLOW_START : e->phase == 't' ? TK_FLOW_STEP : TK_FLOW_END;
  f->cls = trace_class(r->t, e->name, e->cat);
  f->id = (int64_t)(e->id_field ? e->id : e->bind_id);
  f->at = e->node * ASPECTS + ON_TRACK;
  f->enclosing = e->enclosing;
  if (e->has_args) f->args = decoded_event_end_args(r, q, e);
  if (pending) perfetto_add_pending(r, (struct pending_time){pending, r->t->n_flow_points, true});
}

static bool has_private_flag(const struct packet *k, uint32_t number) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(number, PB_VARINT)) return f.value != 0;
  return false;
}

/* True if the private fields of a begin event state that the span was a single complete event. */
static bool came_whole(const struct packet *k) { return has_private_flag(k, TRACEKIT_WHOLE); }
/* True for an event that is in the part before with its own time. */
static bool was_moved(const struct packet *k) { return has_private_flag(k, TRACEKIT_MOVED); }

/* Marks a begin event on a FORM_MIXED track if its span was a single complete event. Stored in tk_event.depth, which is unused until
 * seal sets it. */
enum { CAME_WHOLE = 1 };

/* Returns the class of a name and a category, from a small cache: consecutive events have few different classes, and all end events
 * without a name and category have the same one. */
static tk_id event_class(struct perfetto *r, tk_id name, tk_id cat) {
  const uint64_t key = (uint64_t)name << 32 | cat;
  struct recent_class *c = &r->recent_classes[(name ^ cat * 7) % RECENT_CLASSES];
  if (!c->cls || c->key != key) *c = (struct recent_class){key, trace_class(r->t, name, cat)};
  return c->cls;
}

void take_event_end(struct perfetto *r, struct sequence *q, struct track_event *e, tk_id id, bool pairs) {
  struct tk_trace *t = r->t;
  field_args(r, q, e);
  struct tk_event end = {.ts = e->ns, .cls = event_class(r, e->name, e->cat), .args = decoded_event_end_args(r, q, e)};
  struct tk_event *begin = &t->events[id];
  begin->depth = 0;
  for (uint32_t i = e->first_point; i < r->n_points; i++) r->points[i].event = id;
  if (pairs) {
    seal_close(t, begin, &end);
  } else {
    begin->kind = TK_EVENT_SPAN;
    begin->dur = e->ns > begin->ts ? e->ns - begin->ts : 0;
  }
  t->counts.by_phase['E']++;
}

/* Closes the innermost open span of a track that our writer wrote. The packets of such a track are in order, so spans can be paired
 * immediately and get their original form. Returns false if the begin and end event must stay separate, so that seal pairs them. */
static bool close_open(struct perfetto *r, struct sequence *q, struct track_event *e) {
  struct tk_trace *t = r->t;
  struct node *n = &r->nodes[e->node];
  struct tk_event *begin = &t->events[n->open];
  tk_id id = n->open;
  if (!id) return false;
  const bool is_lane = n->form & FORM_LANE, whole = n->form & FORM_COMPLETE || begin->depth == CAME_WHOLE;
  n->open = (tk_id)begin->dur;
  if (n->form & FORM_MIXED && !is_lane && !whole) return false;
  take_event_end(r, q, e, id, n->form & FORM_ASYNC || (is_lane && !whole));
  return true;
}

static const char PHASES[] = {[TK_EVENT_SPAN] = 'X', [TK_EVENT_INSTANT] = 'i', [TK_EVENT_COUNTER] = 'C', [TK_EVENT_BEGIN] = 'B',
                              [TK_EVENT_END] = 'E'};

/* Adds the scope of an instant in the terms of JSON: global or process; none for instants of a thread or another track. */
static void scope_arg(struct perfetto *r, struct sequence *q, struct track_event *e) {
  bool global = aspect_of(e, TK_EVENT_INSTANT) == ON_GLOBAL || r->nodes[e->node].form & FORM_GLOBAL;
  bool process = aspect_of(e, TK_EVENT_INSTANT) == ON_PROCESS || r->nodes[e->node].kind == NODE_PROCESS;
  if (!global && !process) return;
  decoded_event_args(r, q, e);
  args_str(r->t, KEY_SCOPE_OF_INSTANT, TK_ARG_STR, trace_text(r->t, global ? "g" : "p"));
}

/* Reports damage if an async event that our writer wrote lacks its identity, which is stored in its args. */
static void require_identity(struct perfetto *r, struct sequence *q, struct track_event *e) {
  decoded_event_args(r, q, e);
  if (args_hold(r->t, KEY_ID) || args_hold(r->t, KEY_ID2)) return;
  args_int(r->t, KEY_ID, 0);
  perfetto_note(r, TK_NOTE_REPAIR, "async event without an id: the id is set to 0");
}

/* Returns the packed args of the event, including args that its other fields imply. */
static uint32_t build_args(struct perfetto *r, struct sequence *q, struct track_event *e, enum tk_kind kind) {
  const bool async = is_async(e);
  if (async) identity_args(r, q, e, strchr("STpF", e->phase) != NULL);
  else if (r->nodes[e->node].form & FORM_ASYNC) require_identity(r, q, e);
  field_args(r, q, e);
  if (kind == TK_EVENT_INSTANT && !async) scope_arg(r, q, e);
  return decoded_event_end_args(r, q, e);
}

static uint32_t site_of(const struct perfetto *r, const struct track_event *e, enum tk_kind kind) {
  const uint32_t node = e->node;
  const unsigned form = r->nodes[node].form;
  if (kind == TK_EVENT_COUNTER) return node * ASPECTS + ON_PROCESS;
  if (form & FORM_LANE) return track_node_parent(r, node) * ASPECTS + ON_TRACK;
  if (form & FORM_ASYNC) return node * ASPECTS + ON_ASYNCS;
  if (form & FORM_GLOBAL && kind == TK_EVENT_INSTANT && !is_async(e)) return track_node_process(r, node) * ASPECTS + ON_PROCESS;
  return node * ASPECTS + (uint32_t)aspect_of(e, kind);
}

/* Gives a complete event with a thread duration an end event with the thread time, because Perfetto states this time at both ends. */
static void end_with_thread_time(struct perfetto *r, struct sequence *q, const struct track_event *e, tk_id id) {
  struct tk_event *begin = &r->t->events[id];
  struct track_event end = {.has_thread_us = true, .thread_us = num_add(e->thread_us, e->thread_dur_us)};
  struct tk_event last = {.ts = num_add(begin->ts, begin->dur), .cls = event_class(r, 0, 0)};
  r->fields.len = r->types.len = 0;
  pb_i64(&r->fields, EVENT_THREAD_TIME_ABSOLUTE_US, end.thread_us);
  field_args(r, q, &end);
  last.args = decoded_event_end_args(r, q, &end);
  seal_close(r->t, begin, &last);
}

static void take_add_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e,
                           enum tk_kind kind) {
  struct tk_trace *t = r->t;
  const unsigned form = r->nodes[e->node].form;
  const bool async = is_async(e), pairs = !async && form & (FORM_COMPLETE | FORM_MIXED | FORM_ASYNC | FORM_LANE);
  if (pairs && kind == TK_EVENT_END && close_open(r, q, e)) return;
  const uint32_t args = build_args(r, q, e, kind);
  struct node *n = &r->nodes[e->node];
  struct tk_event *ev = trace_add_event(t);
  *ev = (struct tk_event){.ts = e->ns, .kind = (uint8_t)kind, .cls = event_class(r, e->name, e->cat), .args = args,
                          .track = site_of(r, e, kind)};
  ev->flags = (async || form & FORM_ASYNC ? TK_FLAG_ASYNC : 0) | (e->damaged ? TK_FLAG_REPAIRED : 0);
  if (kind == TK_EVENT_SPAN && e->dur_us > 0 && e->dur_us < INT64_MAX / 1000) ev->dur = e->dur_us * 1000;
  if (!async && kind != TK_EVENT_INSTANT && kind != TK_EVENT_COUNTER) n->has_slices = true;
  n->has_events = true;
  if (!n->first_name && e->name) n->first_name = e->name;
  bind_raw_points(r, e, ev, t->n_events, kind == TK_EVENT_END);
  if (pairs && kind == TK_EVENT_BEGIN) {
    ev->dur = n->open;
    n->open = t->n_events;
    if (form & FORM_MIXED && came_whole(k)) ev->depth = CAME_WHOLE;
  }
  t->counts.by_phase[(unsigned char)PHASES[kind]]++;
  if (kind == TK_EVENT_SPAN && e->thread_dur_us) end_with_thread_time(r, q, e, t->n_events);
}

static struct counter_sample sample_of(const struct perfetto *r, const struct sequence *q, const struct track_event *e,
                                       uint32_t pending) {
  return (struct counter_sample){
    .sequence = (uint32_t)(q - r->sequences), .node = e->node, .pending = pending, .cat = e->cat, .ns = e->ns};
}

/* Computes the extra counter samples of the event; almost no event has any. */
static inline void compute_extra(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e,
                                 uint32_t pending) {
  if (!e->extra) return;
  const struct counter_sample site = sample_of(r, q, e, pending);
  extra_compute(r, q, k, e, &site);
}

static inline void add_extra(struct perfetto *r, const struct sequence *q, const struct track_event *e, uint32_t pending) {
  if (e->extra) extra_add(r, e, sample_of(r, q, e, pending));
}

/* Leaves out an event that the graph cannot represent: removes its flow points, and marks its track as having events. */
static void leave_event(struct perfetto *r, const struct packet *k, const struct track_event *e) {
  uint32_t node = e->has_track ? track_find_node(r, k->machine, e->track_uuid) : 0;
  r->n_points = e->first_point;
  if (node) r->nodes[node].has_events = true;
}

/* Keeps an event of an unsupported type for Perfetto output, and adds its extra counter samples. */
static void keep_unsupported(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e, uint32_t pending) {
  leave_event(r, k, e);
  if (e->damaged) r->t->counts.dropped++;
  else passthrough_event(r, q, k, e, clock_of_sequence(q, k));
  if (!e->damaged) compute_extra(r, q, k, e, pending);
  add_extra(r, q, e, pending);
  perfetto_note(r, TK_NOTE_INFO, "track events of unsupported types, such as states: kept only in Perfetto output");
}

/* Adds the flow point of a legacy bind_id. The high bit keeps these ids apart from flow_ids. */
static void add_bound_point(struct perfetto *r, const struct track_event *e) {
  perfetto_add_point(r, e->bind_id ^ 1ull << 63, e->direction == 1);
  if (r->n_points) r->points[r->n_points - 1].direction = (uint8_t)(e->direction & 3);
}

/* Adds the event, and notes the GPU events to which its fields refer. */
static void add_linked_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e, enum tk_kind kind) {
  const size_t n_links = r->gpu_links.len;
  const tk_id id = r->t->n_events + 1;
  if (r->fields.len && kind != TK_EVENT_END) gpu_flows_of_event(r, k, id);
  take_add_event(r, q, k, e, kind);
  if (r->t->n_events < id) r->gpu_links.len = n_links;
}

void perfetto_take_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e) {
  uint32_t pending;
  bool known;
  if (!time_of(r, q, k, e, &e->ns, &pending)) {
    leave_event(r, k, e);
    passthrough_untimed(r, q, k, !e->damaged);
    return;
  }
  const enum tk_kind kind = kind_of(e, &known);
  const bool flow = !e->has_type && e->phase && strchr("stf", e->phase);
  if (r->parts.joins && was_moved(k)) {
    leave_event(r, k, e);
    return;
  }
  if (!known && !flow) {
    keep_unsupported(r, q, k, e, pending);
    return;
  }
  if ((e->node = node_of(r, q, k, e)) == 0) return;
  if (r->n_points > e->first_point || k->private_fields.p)
    perfetto_points(r, q, k, &(struct flow_site){e->node, e->cat, e->ns, e->first_point, kind == TK_EVENT_BEGIN ||
                                                 kind == TK_EVENT_INSTANT});
  if (e->bind_id && e->direction && !flow) add_bound_point(r, e);
  compute_extra(r, q, k, e, pending);
  if (flow) {
    legacy_flow(r, q, e, pending);
  } else if (kind == TK_EVENT_COUNTER && e->has_type) {
    r->n_points = e->first_point;
    counter_event(r, q, k, e, sample_of(r, q, e, pending));
  } else {
    add_linked_event(r, q, k, e, kind);
    if (pending) perfetto_add_pending(r, (struct pending_time){pending, r->t->n_events, false});
  }
  add_extra(r, q, e, pending);
}
