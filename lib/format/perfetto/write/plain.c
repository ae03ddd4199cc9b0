/* plain.c - writes events with unmodelled fields that may refer to unmodelled interned data.
 *
 * Such interned data is written unchanged, with its original ids, on a separate sequence, and so are the events. It is written before
 * the first of these events, so data that only dropped events used is not written. On this sequence the
 * events contain their names, times and tracks themselves, so that only fields that we cannot interpret depend on the state of the
 * sequence. */
#include <string.h>

#include "plain.h"
#include "writer.h"

/* Adds the interned data of an entry of perfetto.interned. */
static void add_interned(struct event_writer *w, const char *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  struct interned_out out = {.sequence = 0};
  uint64_t number = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(INTERNED_NUMBER, PB_VARINT)) number = f.value;
    if (pb_field_key(&f) == PB_KEY(INTERNED_DATA, PB_BYTES)) out.p = f.p, out.n = (size_t)f.value;
  }
  if (number != (uint64_t)w->n_kept + 1) return;
  if (mem_grow(w->mem, (void **)&w->kept, &w->cap_kept, (uint64_t)w->n_kept + 1, sizeof out)) w->kept[w->n_kept++] = out;
}

void plain_interned_begin(struct event_writer *w) {
  const struct tk_trace *t = w->t;
  w->n_kept = 0;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (passthrough_is(t, m, PASSTHROUGH_INTERNED)) add_interned(w, trace_raw(t, m->at), (size_t)m->size);
  }
}

/* ---- one event ---- */

/* Returns the number of the interned data to which the event's fields may refer; 0 = none. */
static uint64_t plain_number_of(const struct event_writer *w, uint32_t args, tk_id key) {
  struct tk_args it = tk_args_of(w->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    if (arg.key == key && arg.type == TK_ARG_INT) return (uint64_t)arg.i;
  return 0;
}

/* Returns the index of the event's first flow point in w->points, or of the next event's. */
static uint32_t first_point(const struct event_writer *w, tk_id event) {
  uint32_t lo = 0, hi = w->n_points;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (w->t->flow_points[w->points[mid]].at < event) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* True if a flow point of the event has a text, which is an iid of our own. */
static bool has_point_texts(const struct event_writer *w, tk_id event) {
  for (uint32_t i = first_point(w, event); i < w->n_points; i++) {
    const struct tk_flow_point *f = &w->t->flow_points[w->points[i]];
    if (f->at != event) return false;
    if (f->id_kind == TK_FLOW_ID_STR || w->t->classes[f->cls].name || w->t->classes[f->cls].cat) return true;
  }
  return false;
}

void plain_begin(struct event_writer *w, tk_id event, bool at_end) {
  const uint32_t args = w->t->events[event].args;
  tk_id key = at_end ? w->end_field_keys.interned : w->begin_keys.interned;
  uint64_t number = key && args ? plain_number_of(w, args, key) : 0;
  w->plain = number && number <= w->n_kept && (at_end || !has_point_texts(w, event)) ? &w->kept[number - 1] : NULL;
  w->loses_fields = number && !w->plain;
}

void plain_text(struct event_writer *w, uint32_t field, tk_id text) {
  const struct intern_str *s = trace_str(w->t, text);
  if (text) pb_bytes(&w->event, field, s->bytes, s->len);
}

void plain_annotation(struct event_writer *w, const struct tk_arg *arg, uint32_t skip, const struct buf *value) {
  const struct intern_str *key = trace_str(w->t, arg->key);
  struct buf *b = &w->scratch;
  b->len = 0;
  pb_bytes(b, ANNOTATION_NAME, key->bytes + skip, key->len - skip);
  if (arg->type == TK_ARG_STR || arg->type == TK_ARG_REF)
    pb_bytes(b, ANNOTATION_STRING, trace_str(w->t, arg->s)->bytes, trace_str(w->t, arg->s)->len);
  else buf_append(b, value->data, value->len);
  pb_message(&w->event, EVENT_DEBUG_ANNOTATIONS, b);
}

static void open_sequence(struct event_writer *w, struct interned_out *out) {
  struct buf *p = &w->packet;
  while (map_get(w->sequences, *w->next_sequence)) *w->next_sequence += w->step;
  out->sequence = *w->next_sequence;
  *w->next_sequence += w->step;
  p->len = 0;
  pb_bytes(p, PACKET_INTERNED_DATA, out->p, out->n);
  pb_u64(p, PACKET_SEQUENCE_ID, out->sequence);
  pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  if (w->machine) pb_u64(p, PACKET_MACHINE_ID, w->machine);
  writer_packet(w->out, p);
}

static void plain_packet(struct event_writer *w, int64_t ns) {
  struct buf *p = &w->packet;
  if (!w->plain->sequence) open_sequence(w, w->plain);
  p->len = 0;
  pb_u64(&w->event, EVENT_TRACK_UUID, w->track);
  pb_message(p, PACKET_TRACK_EVENT, &w->event);
  if (w->has_private_fields) pb_message(p, PACKET_TRACEKIT, &w->private_fields);
  pb_u64(p, PACKET_SEQUENCE_ID, w->plain->sequence);
  pb_u64(p, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  if (w->machine) pb_u64(p, PACKET_MACHINE_ID, w->machine);
  pb_u64(p, PACKET_TIMESTAMP, (uint64_t)ns);
  pb_u64(p, PACKET_TIMESTAMP_CLOCK_ID, w->clock);
  writer_packet(w->out, p);
}

/* ---- packets of events ---- */

static uint64_t packet_size(const struct buf *packet) {
  uint8_t room[16];
  return (uint64_t)(varint_put(pb_key(room, TRACE_PACKET, PB_BYTES), packet->len) - room) + packet->len;
}

void plain_event(struct event_writer *w, int64_t ns, enum sink_part part, tk_id id) {
  if (w->plain) plain_packet(w, ns);
  else writer_sequence_packet(w, ns);
  w->plain = NULL;
  w->has_private_fields = false;
  w->private_fields.len = 0;
  w->n_packets++;
  if (w->meter) w->meter->add(w->meter->arg, part, id, packet_size(&w->packet));
}
