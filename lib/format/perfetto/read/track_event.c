/* track_event.c - converts a TrackEvent to a struct track_event: field by field, or from the result of decode.c. */
#include "format/pb_out.h"
#include "track_event.h"
#include "take_event.h"
#include "decoded_args.h"
#include "args.h"
#include "flow_points.h"
#include "sequence.h"

enum { CATEGORIES_MOST = 64 };

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

/* Receives each number of a repeated field, packed or not. */
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

/* Reads a field of legacy_event that identifies the event or its flow. Returns false for other fields. */
static bool read_legacy_id(struct perfetto *r, struct track_event *e, const struct pb_field *g) {
  switch (pb_field_key(g)) {
  case PB_KEY(LEGACY_UNSCOPED_ID, PB_VARINT):
  case PB_KEY(LEGACY_LOCAL_ID, PB_VARINT):
  case PB_KEY(LEGACY_GLOBAL_ID, PB_VARINT): e->id_field = g->number, e->id = g->value; return true;
  case PB_KEY(LEGACY_ID_SCOPE, PB_BYTES): e->id_scope = perfetto_field_text(r, g); return true;
  case PB_KEY(LEGACY_BIND_ID, PB_VARINT): e->bind_id = g->value; return true;
  case PB_KEY(LEGACY_BIND_TO_ENCLOSING, PB_VARINT): e->enclosing = g->value != 0; return true;
  case PB_KEY(LEGACY_FLOW_DIRECTION, PB_VARINT): e->direction = g->value; return true;
  default: return false;
  }
}

/* Reads legacy_event: fields that JSON events have under other names. Fields that are not modelled are kept as a separate
 * legacy_event. */
static void read_legacy(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  e->has_legacy = true;
  r->copy.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    const uint64_t v = g.value;
    switch (pb_field_key(&g)) {
    case PB_KEY(LEGACY_NAME_IID, PB_VARINT): e->name = sequence_text(r, q, IID_NAME, v); break;
    case PB_KEY(LEGACY_PHASE, PB_VARINT): e->phase = v > 0x20 && v < 0x7f ? (char)v : 0; break;
    case PB_KEY(LEGACY_DURATION_US, PB_VARINT): e->dur_us = (int64_t)v; break;
    case PB_KEY(LEGACY_THREAD_DURATION_US, PB_VARINT): e->thread_dur_us = (int64_t)v; break;
    case PB_KEY(LEGACY_INSTANT_SCOPE, PB_VARINT): e->scope = v; break;
    case PB_KEY(LEGACY_PID_OVERRIDE, PB_VARINT): e->pid = (int64_t)v, e->has_pid = true; break;
    case PB_KEY(LEGACY_TID_OVERRIDE, PB_VARINT): e->tid = (int64_t)v, e->has_tid = true; break;
    default:
      if (!read_legacy_id(r, e, &g)) buf_append(&r->copy, from, (size_t)(c.p - from));
    }
  }
  if (r->copy.len) pb_message(&r->fields, EVENT_LEGACY, &r->copy);
}

/* Returns a sum that wraps around on overflow, because the file may be damaged. */
static int64_t sum(int64_t total, uint64_t delta) { return (int64_t)((uint64_t)total + delta); }

/* Stores the thread time of an event, always as an absolute value. In other formats it is an arg. */
static void set_thread_time(struct perfetto *r, struct track_event *e, int64_t us) {
  e->thread_us = us;
  e->has_thread_us = true;
  pb_i64(&r->fields, EVENT_THREAD_TIME_ABSOLUTE_US, us);
}

static void packed_varint_points(struct perfetto *r, const struct pb_field *f) {
  uint64_t v;
  for (struct pb c = pb_inside(f); c.p < c.end && pb_varint(&c, &v);)
    perfetto_add_point(r, v, f->number == EVENT_TERMINATING_FLOW_IDS_OLD);
}

static void packed_fixed_points(struct perfetto *r, const struct pb_field *f) {
  for (struct pb c = pb_inside(f); c.end - c.p >= 8; c.p += 8) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | c.p[i];
    perfetto_add_point(r, v, f->number == EVENT_TERMINATING_FLOW_IDS);
  }
}

/* Reads values of extra counters, or the ids of their tracks. Returns false for other fields. */
static bool read_extra_counter(struct track_event *e, const struct pb_field *f) {
  switch (pb_field_key(f)) {
  case PB_KEY(EVENT_EXTRA_VALUES, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_VALUES, PB_BYTES): numbers(f, put_extra, e->extra); return true;
  case PB_KEY(EVENT_EXTRA_UUIDS, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_UUIDS, PB_BYTES): numbers(f, put_uuid, &e->extra->uuids); return true;
  case PB_KEY(EVENT_EXTRA_DOUBLE_UUIDS, PB_VARINT):
  case PB_KEY(EVENT_EXTRA_DOUBLE_UUIDS, PB_BYTES): numbers(f, put_uuid, &e->extra->double_uuids); return true;
  case PB_KEY(EVENT_EXTRA_DOUBLE_VALUES, PB_FIXED64):
    if (e->extra->n_doubles < EXTRA_COUNTERS) e->extra->doubles[e->extra->n_doubles++] = pb_as_double(f->value);
    return true;
  default: return false;
  }
}

/* Reads a rare field. Returns false if the field is not modelled. */
static bool read_rare_field(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  switch (pb_field_key(f)) {
  case PB_KEY(EVENT_FLOW_IDS_OLD, PB_VARINT):
  case PB_KEY(EVENT_FLOW_IDS, PB_FIXED64): perfetto_add_point(r, f->value, false); break;
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS_OLD, PB_VARINT):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS, PB_FIXED64): perfetto_add_point(r, f->value, true); break;
  case PB_KEY(EVENT_FLOW_IDS_OLD, PB_BYTES):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS_OLD, PB_BYTES): packed_varint_points(r, f); break;
  case PB_KEY(EVENT_FLOW_IDS, PB_BYTES):
  case PB_KEY(EVENT_TERMINATING_FLOW_IDS, PB_BYTES): packed_fixed_points(r, f); break;
  case PB_KEY(EVENT_CORRELATION_ID, PB_VARINT):
    e->has_correlation = true;
    e->correlation_id = f->value;
    break;
  case PB_KEY(EVENT_CORRELATION_ID_STR, PB_BYTES): e->correlation = perfetto_field_text(r, f); break;
  case PB_KEY(EVENT_CORRELATION_ID_IID, PB_VARINT): e->correlation = sequence_text(r, q, IID_CORRELATION, f->value); break;
  case PB_KEY(EVENT_TIMESTAMP_DELTA_US, PB_VARINT): e->delta_us = (int64_t)f->value, e->has_delta = true; break;
  case PB_KEY(EVENT_TIMESTAMP_ABSOLUTE_US, PB_VARINT): e->absolute_us = (int64_t)f->value, e->has_absolute = true; break;
  case PB_KEY(EVENT_THREAD_TIME_ABSOLUTE_US, PB_VARINT): set_thread_time(r, e, (int64_t)f->value); break;
  case PB_KEY(EVENT_THREAD_TIME_DELTA_US, PB_VARINT):
    set_thread_time(r, e, q->thread_us = sum(q->thread_us, f->value));
    break;
  case PB_KEY(EVENT_INSTRUCTIONS_DELTA, PB_VARINT): /* converted to an absolute count */
    q->instructions = sum(q->instructions, f->value);
    pb_i64(&r->fields, EVENT_INSTRUCTIONS_ABSOLUTE, q->instructions);
    break;
  default: return read_extra_counter(e, f);
  }
  return true;
}

static void add_packed_categories(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb in = pb_inside(f);
  uint64_t v;
  while (in.p < in.end && pb_varint(&in, &v)) add_category(r, e, sequence_text(r, q, IID_CATEGORY, v));
}

/* Sets the value of a counter. If there are several values, the last one counts. */
static void set_value(struct track_event *e, const struct pb_field *f) {
  e->has_double = f->number == EVENT_DOUBLE_COUNTER_VALUE;
  e->has_value = !e->has_double;
  if (e->has_double) e->double_value = pb_as_double(f->value);
  else e->value = (int64_t)f->value;
}

/* Reads the fields of an event. Extensions and fields that are not modelled are collected in r->fields. */
static bool read_fields(struct perfetto *r, struct sequence *q, struct track_event *e, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  const uint8_t *from;
  r->fields.len = r->types.len = 0;
  for (from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(EVENT_TYPE, PB_VARINT): e->type = g.value, e->has_type = g.value != TYPE_UNSPECIFIED; break;
    case PB_KEY(EVENT_TRACK_UUID, PB_VARINT): e->track_uuid = g.value, e->has_track = true; break;
    case PB_KEY(EVENT_NAME_IID, PB_VARINT): e->name = sequence_text(r, q, IID_NAME, g.value); break;
    case PB_KEY(EVENT_NAME, PB_BYTES): e->name = perfetto_field_text(r, &g); break;
    case PB_KEY(EVENT_CATEGORY_IIDS, PB_VARINT): add_category(r, e, sequence_text(r, q, IID_CATEGORY, g.value)); break;
    case PB_KEY(EVENT_CATEGORIES, PB_BYTES): add_category(r, e, perfetto_field_text(r, &g)); break;
    case PB_KEY(EVENT_CATEGORY_IIDS, PB_BYTES): add_packed_categories(r, q, e, &g); break;
    case PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES):
      decoded_event_args(r, q, e);
      perfetto_annotation(r, q, &g);
      break;
    case PB_KEY(EVENT_LEGACY, PB_BYTES): read_legacy(r, q, e, &g); break;
    case PB_KEY(EVENT_COUNTER_VALUE, PB_VARINT):
    case PB_KEY(EVENT_DOUBLE_COUNTER_VALUE, PB_FIXED64): set_value(e, &g); break;
    default:
      if (g.number >= EVENT_FIRST_EXTENSION || !read_rare_field(r, q, e, &g)) buf_append(&r->fields, from, (size_t)(c.p - from));
    }
  }
  return !c.fault;
}

/* Keeps the thread duration of a legacy event as it is, unless it is that of a complete event whose thread time is known. */
static void keep_thread_duration(struct perfetto *r, struct track_event *e) {
  const bool is_known = !e->has_type && e->phase == 'X' && e->has_thread_us && e->thread_dur_us > 0;
  if (is_known || !e->thread_dur_us) return;
  r->copy.len = 0;
  pb_i64(&r->copy, LEGACY_THREAD_DURATION_US, e->thread_dur_us);
  pb_message(&r->fields, EVENT_LEGACY, &r->copy);
  e->thread_dur_us = 0;
}

void perfetto_track_event(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct extra_counters extra;
  struct track_event e = {.first_point = r->n_points, .extra = &extra};
  extra.uuids.n = extra.double_uuids.n = extra.n_values = extra.n_doubles = extra.n_found = 0;
  r->t->counts.read++;
  e.damaged = !read_fields(r, q, &e, &k->event) || k->damaged;
  if (e.damaged && !e.has_type && !e.has_legacy) {
    r->n_points = e.first_point;
    r->t->counts.dropped++;
    perfetto_damage(r, "damaged track event: dropped");
    return;
  }
  if (e.damaged && !k->damaged) perfetto_damage(r, "damaged track event, read as far as possible");
  keep_thread_duration(r, &e);
  perfetto_take_event(r, q, k, &e);
}

void perfetto_own_end(struct perfetto *r, struct sequence *q, const struct pb_field *f, tk_id begin, const struct own_end *end) {
  struct extra_counters extra;
  struct track_event e = {.first_point = r->n_points, .extra = &extra, .ns = num_add(r->t->events[begin].ts, end->dur)};
  extra.uuids.n = extra.double_uuids.n = extra.n_values = extra.n_doubles = extra.n_found = 0;
  read_fields(r, q, &e, f);
  if (end->has_points) r->n_points = e.first_point;
  take_event_end(r, q, &e, begin, end->pairs);
}

/* ---- decoded events ---- */

/* Finds a name or category. Returns false for an iid that was never defined. */
static bool find_name(struct perfetto *r, const struct sequence *q, enum iid_kind kind, const struct decoded_text *text, tk_id *id) {
  if (text->p) *id = perfetto_text(r, text->p, (size_t)text->v);
  else if (text->v) *id = sequence_find(q, kind, text->v);
  return *id || !text->v || text->p;
}

bool perfetto_decoded_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct decoded *d) {
  struct track_event e = {.first_point = r->n_points, .decoded = d, .has_args = d->n_args > 0};
  uint8_t values[DECODED_VALUES];
  if (!find_name(r, q, IID_NAME, &d->name, &e.name) || !find_name(r, q, IID_CATEGORY, &d->cat, &e.cat)) return false;
  if (e.has_args && (e.layout = decoded_layout(r, q, d)) == NULL) return false;
  r->t->counts.read++;
  r->fields.len = r->types.len = 0;
  for (unsigned i = 0; i < DECODED_REST && d->rest[i].n; i++) buf_append(&r->fields, d->rest[i].p, d->rest[i].n);
  e.type = d->type;
  e.has_type = d->type != TYPE_UNSPECIFIED;
  e.track_uuid = d->track_uuid;
  e.has_track = d->has_track;
  e.has_value = d->value == DECODED_INT;
  e.has_double = d->value == DECODED_DOUBLE;
  if (e.has_double) e.double_value = pb_as_double(d->number);
  else e.value = (int64_t)d->number;
  if (e.has_args) decoded_event_pack(r, q, &e, values);
  for (uint32_t i = 0; i < d->n_points; i++) perfetto_add_point(r, d->points[i].id, d->points[i].terminating);
  perfetto_take_event(r, q, k, &e);
  return true;
}
