/* read_packet.c - one TracePacket: first what its sequence is to remember, then what it carries.
 *
 * A packet that needs its sequence's state (SEQ_NEEDS_INCREMENTAL_STATE) is worth nothing where that state was never set or has
 * been lost, and is skipped, as trace_processor does. */
#include <stdio.h>
#include <string.h>

#include "reader.h"

static bool read_packet(struct pb *c, struct packet *k) {
  struct pb_field f;
  while (pb_next(c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(PACKET_TIMESTAMP, PB_VARINT): k->timestamp = f.value, k->has_timestamp = true; break;
    case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): k->sequence = f.value; break;
    case PB_KEY(PACKET_TRACK_EVENT, PB_BYTES): k->event = f; break;
    case PB_KEY(PACKET_INTERNED_DATA, PB_BYTES): k->interned = f; break;
    case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): k->flags |= f.value; break;
    case PB_KEY(PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT): k->clock = (uint32_t)f.value, k->has_clock = true; break;
    case PB_KEY(PACKET_DEFAULTS, PB_BYTES): k->defaults = f; break;
    case PB_KEY(PACKET_TRACK_DESCRIPTOR, PB_BYTES): k->descriptor = f; break;
    case PB_KEY(PACKET_CLOCK_SNAPSHOT, PB_BYTES): k->snapshot = f; break;
    case PB_KEY(PACKET_STATE_CLEARED, PB_VARINT): k->flags |= f.value ? SEQUENCE_CLEARED : 0; break;
    case PB_KEY(PACKET_PREVIOUS_DROPPED, PB_VARINT): k->dropped = f.value != 0; break;
    case PB_KEY(PACKET_PROCESS_DESCRIPTOR, PB_BYTES): k->process = f; break;
    case PB_KEY(PACKET_THREAD_DESCRIPTOR, PB_BYTES): k->thread = f; break;
    case PB_KEY(PACKET_ZSTD, PB_BYTES):
    case PB_KEY(PACKET_COMPRESSED, PB_BYTES): k->compressed = f; break;
    case PB_KEY(PACKET_EXTENSION_DESCRIPTOR, PB_BYTES): k->extension = f; break;
    case PB_KEY(PACKET_REMOTE_CLOCK_SYNC, PB_BYTES): k->sync = f, k->other = f.number; break;
    case PB_KEY(PACKET_MACHINE_ID, PB_VARINT): k->machine = (uint32_t)f.value; break;
    case PB_KEY(PACKET_TRACE_ATTRIBUTES, PB_BYTES): k->attributes = f; break;
    case PB_KEY(PACKET_TRACEKIT, PB_BYTES): k->private_fields = f; break;
    case PB_KEY(PACKET_TRUSTED_UID, PB_VARINT):
    case PB_KEY(PACKET_TRUSTED_PID, PB_VARINT):
    case PB_KEY(PACKET_FIRST_ON_SEQUENCE, PB_VARINT): break;
    default: k->other = f.number;
    }
  }
  return !c->fault;
}

/* A damaged one would spoil what we write: trace_processor takes it as it comes. */
static void extension_descriptor(struct perfetto *r, const struct pb_field *f) {
  if (schema_read(&r->extensions.schema, f->p, (size_t)f->value))
    perfetto_add_passthrough(r, PASSTHROUGH_EXTENSIONS, f->p, (size_t)f->value);
  else
    perfetto_note(r, TK_NOTE_REPAIR, "damaged extension descriptor: read as far as it goes, and left out");
}

/* Attributes that our writer makes of JSON's top level: "tracekit", "json.KEY", "json.after.KEY".  False: it is none of these. */
static bool read_attribute(struct perfetto *r, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g, key = {0}, text = {0};
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(ATTRIBUTE_KEY, PB_BYTES)) key = g;
    else if (pb_field_key(&g) == PB_KEY(ATTRIBUTE_STRING, PB_BYTES)) text = g;
  }
  bool ours = key.value == 8 && memcmp(key.p, "tracekit", 8) == 0;
  bool after = key.value >= 11 && memcmp(key.p, "json.after.", 11) == 0;
  size_t skip = ours ? 0 : after ? 11 : 5;
  if (!ours && (key.value < 5 || memcmp(key.p, "json.", 5) != 0)) return false;
  if (!perfetto_is_json(r, &text)) return true;
  struct tk_meta *m = trace_add_meta(r->t);
  m->key = perfetto_text(r, key.p + skip, (size_t)key.value - skip);
  m->at = r->t->store->raw.len;
  m->size = r->json.len;
  m->after = ours || after;
  buf_append(&r->t->store->raw, r->json.data, r->json.len);
  trace_end_raw(r->t);
  return true;
}

static bool read_attributes(struct perfetto *r, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  bool ours = true;
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(ATTRIBUTES_ATTRIBUTE, PB_BYTES)) ours &= read_attribute(r, &g);
  return ours;
}

static void note_other(struct perfetto *r, const struct packet *k) {
  const char *name = perfetto_packet_name(k->other);
  char text[96];
  if (name) snprintf(text, sizeof text, "packets of other kinds: for Perfetto output alone: %s", name);
  else snprintf(text, sizeof text, "packets of other kinds: for Perfetto output alone: field %u", k->other);
  perfetto_note(r, TK_NOTE_INFO, text);
}

static void sequence_state(struct perfetto *r, struct sequence *q, struct packet *k) {
  if (k->dropped) q->valid = false;
  if (k->flags & SEQUENCE_CLEARED) sequence_clear(q, &r->t->store->mem);
  if (k->defaults.p) sequence_defaults(q, &k->defaults);
  if (k->snapshot.p) k->of_sequence = clock_snapshot(r, q, k->machine, &k->snapshot);
  if (k->sync.p) machine_sync(r, q, k->machine, &k->sync);
}

/* Every time counts on an incremental clock, also that of a packet without an event. */
static void pass_packet_through(struct perfetto *r, struct sequence *q, const struct packet *k, const uint8_t *p, size_t n) {
  bool of_sequence = k->has_timestamp && clock_of_sequence(q, k), counted = k->event.p || k->private_fields.p;
  int64_t ns;
  uint32_t clock;
  if (of_sequence && !counted) of_sequence = clock_time(r, q, k, &ns, &clock);
  passthrough_packet(r, q, k, p, n, of_sequence && !counted ? &ns : NULL);
}

void perfetto_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed) {
  struct pb c = pb_over(p, n);
  struct packet k = {0};
  struct sequence *q;
  if (!read_packet(&c, &k)) {
    perfetto_note(r, TK_NOTE_REPAIR, "damaged packet: skipped");
    r->t->counts.dropped++;
    return;
  }
  perfetto_count(r, &k, n);
  *compressed = k.compressed;
  q = perfetto_sequence(r, k.machine, k.sequence);
  if (!q) return;
  sequence_state(r, q, &k);
  if (k.attributes.p && !read_attributes(r, &k.attributes)) k.other = PACKET_TRACE_ATTRIBUTES;
  pass_packet_through(r, q, &k, p, n);
  if (k.flags & SEQUENCE_NEEDS_STATE && !q->valid) {
    perfetto_note(r, TK_NOTE_REPAIR, "packets that need the state of their sequence, which is not there: skipped");
    if (k.event.p) r->t->counts.read++, r->t->counts.dropped++;
    return;
  }
  if (k.interned.p) sequence_intern(r, q, &k.interned);
  if (k.descriptor.p) track_descriptor(r, q, k.machine, &k.descriptor);
  if (k.process.p) old_process_descriptor(r, k.machine, &k.process);
  if (k.thread.p) old_thread_descriptor(r, q, k.machine, &k.thread);
  if (k.extension.p) extension_descriptor(r, &k.extension);
  if (k.event.p) perfetto_track_event(r, q, &k);
  else if (k.private_fields.p && !passthrough_block(r, &k)) perfetto_lone_points(r, q, &k);
  else if (k.other) note_other(r, &k);
}
