/* write_event.c - TrackEvents, as small as they get without losing a name.
 *
 * One sequence per graph: names, categories, arg keys and arg strings are interned in it once; the clock counts from the packet
 * before; the track is a default that changes when the track does.  So a begin is its time's delta, two ids and its args, and an
 * end is eleven bytes. */
#include <string.h>

#include "format/json.h"
#include "writer.h"

/* ---- life ---- */

static bool iids_init(struct iids *i, uint32_t n, struct mem *mem) {
  size_t size = ((size_t)n + 1) * sizeof *i->iid;
  *i = (struct iids){0};
  i->iid = mem_alloc(mem, size);
  if (i->iid) memset(i->iid, 0, size);
  return i->iid != NULL;
}

static void iids_free(struct iids *i, struct mem *mem) {
  mem_free(mem, i->iid);
  mem_free(mem, i->known);
}

void iids_set(struct event_writer *w, struct iids *kind, tk_id s, uint32_t iid) {
  if (!kind->iid[s] && mem_grow(w->mem, (void **)&kind->known, &kind->cap_known, (uint64_t)kind->n_known + 1, sizeof *kind->known))
    kind->known[kind->n_known++] = s;
  kind->iid[s] = iid;
}

static void iids_forget(struct iids *i) {
  while (i->n_known) i->iid[i->known[--i->n_known]] = 0;
  i->n = 0;
}

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem) {
  uint32_t n = t->store->strings.n;
  w->t = t;
  w->out = out;
  w->mem = mem;
  w->base_ns = base_ns;
  w->started = false;
  w->track = 0;
  w->n_flow_ends = w->last_flow_end = w->last_point = 0;
  w->has_ends = false;
  w->interned.mem = w->event.mem = w->annotation.mem = w->packet.mem = w->scratch.mem = w->private_fields.mem = mem;
  schema_init(&w->schema, mem);
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (t->metas[i].origin && strcmp(tk_string(t, t->metas[i].key, NULL), "perfetto.extension_descriptor") == 0)
      schema_read(&w->schema, (const uint8_t *)trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
  return iids_init(&w->names, n, mem) && iids_init(&w->categories, n, mem) && iids_init(&w->keys, n, mem) &&
         iids_init(&w->values, n, mem) && iids_init(&w->end_keys, n, mem) &&
         iids_init(&w->point_classes, n, mem);
}

void writer_end(struct event_writer *w) {
  iids_free(&w->names, w->mem);
  iids_free(&w->categories, w->mem);
  iids_free(&w->keys, w->mem);
  iids_free(&w->values, w->mem);
  iids_free(&w->end_keys, w->mem);
  iids_free(&w->point_classes, w->mem);
  mem_free(w->mem, w->points);
  mem_free(w->mem, w->has_flows);
  w->has_flows = NULL;
  w->points = NULL;
  w->n_points = 0;
  mem_free(w->mem, w->flow_ends);
  w->flow_ends = NULL;
  w->cap_flow_ends = 0;
  schema_free(&w->schema);
  buf_free(&w->interned);
  buf_free(&w->event);
  buf_free(&w->annotation);
  buf_free(&w->packet);
  buf_free(&w->scratch);
  buf_free(&w->private_fields);
}

void writer_switch(struct event_writer *w, uint32_t machine, int64_t base_ns) {
  struct iids *all[] = {&w->names, &w->categories, &w->keys, &w->end_keys, &w->values, &w->point_classes};
  w->base_ns = base_ns;
  w->machine = machine;
  for (size_t i = 0; w->started && i < sizeof all / sizeof *all; i++) iids_forget(all[i]);
  w->started = false;
  w->track = 0;
}

/* ---- packets ---- */

static uint64_t packet_size(const struct buf *packet) {
  uint8_t room[16];
  return (uint64_t)(varint_put(pb_key(room, TRACE_PACKET, PB_BYTES), packet->len) - room) + packet->len;
}

void writer_packet(struct out *out, const struct buf *packet) {
  uint8_t *p = out_reserve(out, 16);
  out->next = varint_put(pb_key(p, TRACE_PACKET, PB_BYTES), packet->len);
  out_write(out, packet->data, packet->len);
}

int64_t writer_ns(const struct event_writer *w, tk_time ts) {
  int64_t ns = ts >= 0 ? (ts + 500) / 1000 : -((499 - ts) / 1000);
  return w->base_ns + ns;
}

static void put_sequence(struct event_writer *w, struct buf *packet, uint64_t flags) {
  pb_u64(packet, PACKET_SEQUENCE_ID, w->sequence);
  pb_u64(packet, PACKET_SEQUENCE_FLAGS, flags);
  if (w->machine) pb_u64(packet, PACKET_MACHINE_ID, w->machine);
}

static void clock_snapshot(struct event_writer *w, int64_t ns) {
  struct buf *b = &w->scratch, *snapshot = &w->annotation;
  snapshot->len = 0;
  for (int own = 0; own < 2; own++) {
    b->len = 0;
    pb_u64(b, CLOCK_ID, own ? CLOCK_OF_SEQUENCE : w->clock);
    pb_u64(b, CLOCK_TIMESTAMP, (uint64_t)ns);
    if (own) pb_u64(b, CLOCK_IS_INCREMENTAL, 1);
    pb_message(snapshot, SNAPSHOT_CLOCKS, b);
  }
  w->packet.len = 0;
  put_sequence(w, &w->packet, SEQUENCE_CLEARED);
  pb_message(&w->packet, PACKET_CLOCK_SNAPSHOT, snapshot);
  writer_packet(w->out, &w->packet);
  w->last_ns = ns;
  w->started = true;
}

void writer_track(struct event_writer *w, uint64_t uuid) {
  struct buf *b = &w->scratch, *defaults = &w->annotation;
  if (w->track == uuid) return;
  if (!w->started) clock_snapshot(w, 0);
  b->len = defaults->len = w->packet.len = 0;
  pb_u64(b, EVENT_DEFAULTS_TRACK_UUID, uuid);
  pb_message(defaults, DEFAULTS_TRACK_EVENT, b);
  pb_u64(defaults, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_OF_SEQUENCE);
  put_sequence(w, &w->packet, SEQUENCE_NEEDS_STATE);
  pb_message(&w->packet, PACKET_DEFAULTS, defaults);
  writer_packet(w->out, &w->packet);
  w->track = uuid;
}

/* ---- interning ---- */

static uint32_t iid_behind(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip) {
  const struct intern_str *text = trace_str(w->t, s);
  uint32_t *n = kind == &w->end_keys ? &w->keys.n : &kind->n; /* both are names of annotations */
  if (kind->iid[s]) return kind->iid[s];
  iids_set(w, kind, s, ++*n);
  w->scratch.len = 0;
  pb_u64(&w->scratch, INTERNED_IID, kind->iid[s]);
  pb_bytes(&w->scratch, INTERNED_TEXT, text->bytes + skip, text->len - skip);
  pb_message(&w->interned, field, &w->scratch);
  return kind->iid[s];
}

uint32_t writer_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) { return iid_behind(w, kind, field, s, 0); }

/* ---- args ---- */

static double decimal(const struct tk_arg *a) {
  static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  /* exact operands up to 2^53 and 10^22: one correctly rounded operation */
  if (a->exp < 0 && a->exp >= -22 && a->i < (1ll << 53) && a->i > -(1ll << 53)) return (double)a->i / powers[-a->exp];
  return num_nearest(a->i, a->exp);
}

/* Bytes that are no text: a data URL, which says what it is and loses nothing. */
static void put_bytes(struct event_writer *w, struct buf *b, tk_id id) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const struct intern_str *s = trace_str(w->t, id);
  struct buf *url = &w->scratch;
  url->len = 0;
  buf_append(url, "data:;base64,", 13);
  for (uint32_t i = 0; i < s->len; i += 3) {
    uint32_t left = s->len - i, v = (uint32_t)s->bytes[i] << 16;
    if (left > 1) v |= (uint32_t)s->bytes[i + 1] << 8;
    if (left > 2) v |= s->bytes[i + 2];
    char four[4] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=', left > 2 ? digits[v & 63] : '='};
    buf_append(url, four, 4);
  }
  pb_bytes(b, ANNOTATION_STRING, url->data, url->len);
}

/* trace_processor v52 passes over JSON that is a number: a double, beside what it was. */
static void put_number(struct buf *b, const struct intern_str *text) {
  pb_double(b, ANNOTATION_DOUBLE, num_double((const char *)text->bytes, text->len));
  pb_bytes(b, ANNOTATION_TRACEKIT, text->bytes, text->len);
}

static void annotation_value(struct event_writer *w, struct buf *b, const struct tk_arg *a) {
  switch (a->type) {
  case TK_ARG_NULL: return; /* no value; the JSON text "null" ends trace_processor v52 */
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: pb_u64(b, ANNOTATION_BOOL, a->type == TK_ARG_TRUE); return;
  case TK_ARG_INT: pb_i64(b, ANNOTATION_INT, a->i); return;
  case TK_ARG_UINT: pb_u64(b, ANNOTATION_UINT, a->u); return;
  case TK_ARG_POINTER: pb_u64(b, ANNOTATION_POINTER, a->u); return;
  case TK_ARG_DECIMAL: pb_double(b, ANNOTATION_DOUBLE, decimal(a)); return;
  case TK_ARG_DOUBLE: pb_double(b, ANNOTATION_DOUBLE, a->d); return;
  case TK_ARG_BYTES: put_bytes(w, b, a->s); return;
  case TK_ARG_NUMBER: put_number(b, trace_str(w->t, a->s)); return;
  case TK_ARG_JSON: pb_bytes(b, ANNOTATION_JSON, trace_str(w->t, a->s)->bytes, trace_str(w->t, a->s)->len); return;
  default: pb_u64(b, ANNOTATION_STRING_IID, writer_iid(w, &w->values, INTERNED_ANNOTATION_STRINGS, a->s)); return;
  }
}

/* Args that are fields of a TrackEvent go back there.  True if it was one. */
static bool put_field(struct event_writer *w, const struct tk_arg *a) {
  const struct intern_str *s = a->type == TK_ARG_STR || a->type == TK_ARG_BYTES ? trace_str(w->t, a->s) : NULL;
  if (a->key == KEY_PERFETTO_FIELDS && a->type == TK_ARG_BYTES) return buf_append(&w->event, s->bytes, s->len);
  if (a->key == KEY_SCOPE_OF_INSTANT && w->track_has_scope) return true;
  if (a->key != KEY_PERFETTO_CORRELATION) return false;
  if (a->type == TK_ARG_UINT) pb_u64(&w->event, EVENT_CORRELATION_ID, a->u);
  else if (a->type == TK_ARG_STR) pb_bytes(&w->event, EVENT_CORRELATION_ID_STR, s->bytes, s->len);
  else return false;
  return true;
}

/* "json.end.key": an arg of the end event, unless it stands for a field of it. */
static const char END_ARG[] = "json.end.", END_FIELD[] = "json.end.json.";
static bool is_end_arg(const struct event_writer *w, tk_id key) {
  const struct intern_str *s = trace_str(w->t, key);
  return s->len >= 9 && memcmp(s->bytes, END_ARG, 9) == 0 && (s->len < 14 || memcmp(s->bytes, END_FIELD, 14) != 0);
}

static void put_arg(struct event_writer *w, const struct tk_arg *arg, bool at_end) {
  if (arg->key < KEY_COUNT && put_field(w, arg)) return;
  if (w->schema.n && extension_write(&w->schema, w->t, arg, at_end ? 9 : 0, &w->event)) return;
  uint32_t key = at_end ? iid_behind(w, &w->end_keys, INTERNED_ANNOTATION_NAMES, arg->key, 9)
                        : writer_iid(w, &w->keys, INTERNED_ANNOTATION_NAMES, arg->key);
  w->annotation.len = 0;
  pb_u64(&w->annotation, ANNOTATION_NAME_IID, key);
  annotation_value(w, &w->annotation, arg);
  pb_message(&w->event, EVENT_DEBUG_ANNOTATIONS, &w->annotation);
}

/* The args of the begin event, or those of the end event. */
static void put_args(struct event_writer *w, uint32_t args, bool at_end) {
  struct tk_args it = tk_args_of(w->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    size_t before = w->event.len + w->interned.len;
    if (is_end_arg(w, arg.key) != at_end) continue;
    put_arg(w, &arg, at_end);
    if (w->meter) w->meter->add(w->meter->arg, SINK_ARG, arg.key, w->event.len + w->interned.len - before);
  }
  extension_end(&w->schema, &w->event);
}

/* ---- events ---- */

static void event_begin(struct event_writer *w) { w->event.len = w->interned.len = 0; }

/* A name says what follows it, so it comes first. */
static void describe(struct event_writer *w, const struct tk_event *e, uint32_t type) {
  const struct tk_class *c = &w->t->classes[e->cls];
  event_begin(w);
  if (c->name) pb_u64(&w->event, EVENT_NAME_IID, writer_iid(w, &w->names, INTERNED_NAMES, c->name));
  if (c->cat) pb_u64(&w->event, EVENT_CATEGORY_IIDS, writer_iid(w, &w->categories, INTERNED_CATEGORIES, c->cat));
  pb_u64(&w->event, EVENT_TYPE, type);
  if (c->args) put_args(w, c->args, false);
  if (e->args) put_args(w, e->args, false);
}

/* The order of fields is that of what deflate finds: what varies from packet to packet (lengths, name; time and the next length)
 * stands together, what does not is one match between. */
void writer_event(struct event_writer *w, int64_t ns, enum sink_part part, tk_id id) {
  struct buf *p = &w->packet;
  p->len = 0;
  if (w->interned.len) pb_message(p, PACKET_INTERNED_DATA, &w->interned);
  if (w->event.len) pb_message(p, PACKET_TRACK_EVENT, &w->event);
  if (w->has_private_fields) pb_message(p, PACKET_TRACEKIT, &w->private_fields);
  put_sequence(w, p, SEQUENCE_NEEDS_STATE);
  pb_u64(p, PACKET_TIMESTAMP, (uint64_t)(ns - w->last_ns));
  writer_packet(w->out, p);
  w->last_ns = ns;
  w->has_private_fields = false;
  w->private_fields.len = 0;
  w->n_packets++;
  if (w->meter) w->meter->add(w->meter->arg, part, id, packet_size(p));
}

void writer_slice_begin(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  describe(w, e, TYPE_SLICE_BEGIN);
  writer_flows(w, id, false);
  writer_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

void writer_slice_end(struct event_writer *w, tk_id id, int64_t ns) {
  const struct tk_event *e = &w->t->events[id];
  event_begin(w);
  pb_u64(&w->event, EVENT_TYPE, TYPE_SLICE_END);
  writer_flows(w, id, true);
  if (e->flags & TK_PAIRED && e->args) put_args(w, e->args, true);
  writer_event(w, ns, SINK_EVENT, id);
}

void writer_instant(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  describe(w, e, TYPE_INSTANT);
  writer_flows(w, id, false);
  writer_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

void writer_counter(struct event_writer *w, tk_id id, const struct tk_arg *value) {
  event_begin(w);
  pb_u64(&w->event, EVENT_TYPE, TYPE_COUNTER);
  if (value->type == TK_ARG_INT) pb_i64(&w->event, EVENT_COUNTER_VALUE, value->i);
  else if (value->type == TK_ARG_UINT) pb_double(&w->event, EVENT_DOUBLE_COUNTER_VALUE, (double)value->u);
  else pb_double(&w->event, EVENT_DOUBLE_COUNTER_VALUE, value->type == TK_ARG_DOUBLE ? value->d : decimal(value));
  writer_event(w, writer_ns(w, w->t->events[id].ts), SINK_EVENT, id);
}
