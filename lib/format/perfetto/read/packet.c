/* packet.c - processes a TracePacket: first its changes to the sequence state, then its contents.
 *
 * A packet that needs its sequence's state (SEQ_NEEDS_INCREMENTAL_STATE) is skipped, as in trace_processor, if this state was never set
 * or was lost. */
#include <stdio.h>
#include <string.h>

#include "packet.h"
#include "format/perfetto/kinds.h"
#include "format/pb_out.h"
#include "frames.h"
#include "ftrace.h"
#include "detect.h"
#include "gpu.h"
#include "gpu_counters.h"
#include "gpu_own.h"
#include "parts.h"
#include "prune.h"
#include "prune_packets.h"
#include "sched.h"
#include "system.h"
#include "reader.h"
#include "track_event.h"
#include "track.h"
#include "sequence.h"
#include "records.h"
#include "samples.h"
#include "passthrough.h"
#include "machine.h"
#include "inspect.h"
#include "clock.h"
#include "args.h"

static void read_rare_field(struct packet *k, const struct pb_field *f) {
  switch (pb_field_key(f)) {
  case PB_KEY(PACKET_PROCESS_DESCRIPTOR, PB_BYTES): k->process = *f; break;
  case PB_KEY(PACKET_THREAD_DESCRIPTOR, PB_BYTES): k->thread = *f; break;
  case PB_KEY(PACKET_ZSTD, PB_BYTES):
  case PB_KEY(PACKET_COMPRESSED, PB_BYTES): k->compressed = *f; break;
  case PB_KEY(PACKET_EXTENSION_DESCRIPTOR, PB_BYTES): k->extension = *f; break;
  case PB_KEY(PACKET_REMOTE_CLOCK_SYNC, PB_BYTES): k->sync = *f, k->other = f->number; break;
  case PB_KEY(PACKET_MACHINE_ID, PB_VARINT): k->machine = (uint32_t)f->value; break;
  case PB_KEY(PACKET_TRACE_ATTRIBUTES, PB_BYTES): k->attributes = *f; break;
  case PB_KEY(PACKET_TRACEKIT, PB_BYTES): k->private_fields = *f; break;
  case PB_KEY(PACKET_TRUSTED_UID, PB_VARINT):
  case PB_KEY(PACKET_TRUSTED_PID, PB_VARINT):
  case PB_KEY(PACKET_FIRST_ON_SEQUENCE, PB_VARINT): break;
  default:
    k->other = f->number;
    if (f->wire == PB_BYTES) k->content = *f;
    if (f->number == PACKET_FTRACE && !k->bundle.p) k->bundle = *f;
  }
}

static bool read_packet(struct pb *c, struct packet *k) {
  struct pb_field f;
  while (pb_next(c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(PACKET_TIMESTAMP, PB_VARINT): k->timestamp = f.value, k->has_timestamp = true; break;
    case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): k->sequence = f.value, k->has_sequence = true; break;
    case PB_KEY(PACKET_TRACK_EVENT, PB_BYTES): k->event = f; break;
    case PB_KEY(PACKET_INTERNED_DATA, PB_BYTES): k->interned = f; break;
    case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): k->flags |= f.value; break;
    case PB_KEY(PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT): k->clock = (uint32_t)f.value, k->has_clock = true; break;
    case PB_KEY(PACKET_DEFAULTS, PB_BYTES): k->defaults = f; break;
    case PB_KEY(PACKET_TRACK_DESCRIPTOR, PB_BYTES): k->descriptor = f; break;
    case PB_KEY(PACKET_CLOCK_SNAPSHOT, PB_BYTES): k->snapshot = f; break;
    case PB_KEY(PACKET_STATE_CLEARED, PB_VARINT): k->flags |= f.value ? SEQUENCE_CLEARED : 0; break;
    case PB_KEY(PACKET_PREVIOUS_DROPPED, PB_VARINT): k->dropped = f.value != 0; break;
    default: read_rare_field(k, &f);
    }
  }
  return !c->fault;
}

/* True if the packet's length is too large by one or more complete frames. Such frames look like fields with number 1 of the
 * packet (as ftrace bundles do), but contain packets. */
static bool swallows(const struct packet *k) {
  return k->bundle.wire == PB_BYTES && k->bundle.p && perfetto_is_packet(k->bundle.p, (size_t)k->bundle.value, 2);
}

/* Reads an extension descriptor. A damaged one is not passed through, because trace_processor would use it and misinterpret our
 * output. */
static void extension_descriptor(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const struct pb_field *f = &k->extension;
  if (!schema_read(&r->extensions.schema, f->p, (size_t)f->value)) {
    perfetto_note(r, TK_NOTE_REPAIR,
                  "damaged extension descriptor: its readable part is used, but the descriptor is not written to the output");
    return;
  }
  perfetto_add_passthrough(r, PASSTHROUGH_EXTENSIONS, f->p, (size_t)f->value);
  passthrough_extension(r, q, k);
}

/* Reads an attribute that our writer creates from top-level JSON data: "tracekit", "json.KEY", "json.after.KEY". Returns false
 * for other attributes. */
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

/* True for a kind of packets that a cut in time judges by the packet's own time. */
static bool needs_time(const struct kind_of_packet *kind) {
  return !kind || kind->rule == KIND_TIMED || kind->rule == KIND_LAST || (kind->rule == KIND_LISTS && !kind->clock);
}

/* Notes that a packet is kept only in Perfetto output, and whether it lacks a time, because a cut in time keeps such packets. */
static void note_other(struct perfetto *r, const struct packet *k) {
  const struct kind_of_packet *kind = kind_find(k->other);
  const bool lacks_time = !k->has_timestamp && needs_time(kind);
  const char *without = lacks_time ? ", without a time" : "";
  char text[128];
  if (kind) snprintf(text, sizeof text, "packets kept only in Perfetto output: %s%s", kind->name, without);
  else snprintf(text, sizeof text, "packets kept only in Perfetto output: field %u%s", k->other, without);
  perfetto_note(r, TK_NOTE_INFO, text);
}

/* ---- packets that need state ---- */

/* Keeps a packet until it is known whether its sequence ever gets a state. If the state is set later, or was lost, such packets
 * have no meaning, as in trace_processor. If the state is never set in the whole file, the cause may be damage, and the packets
 * are read at the end. */
static void defer(struct perfetto *r, struct sequence *q, const struct packet *k) {
  q->deferred.mem = &r->t->store->mem;
  if (q->deferred.len == 0) q->first_deferred = r->offset;
  pb_bytes(&q->deferred, TRACE_PACKET, k->p, k->n);
  q->n_deferred += k->event.p != NULL;
}

static void skip_packets(struct perfetto *r, uint64_t offset, uint64_t n, uint64_t events) {
  trace_notes(r->t, TK_NOTE_REPAIR, offset, "packets that depend on lost earlier packets of their sequence: skipped", n);
  r->t->counts.read += events;
  r->t->counts.dropped += events;
}

static void skip_deferred(struct perfetto *r, struct sequence *q) {
  struct pb c = pb_over(q->deferred.data, q->deferred.len);
  struct pb_field f;
  uint64_t n = 0;
  while (pb_next(&c, &f)) n++;
  if (n) skip_packets(r, q->first_deferred, n, q->n_deferred);
  buf_free(&q->deferred);
  q->n_deferred = 0;
}

/* True for an event that needs the default track which its own packet clears; the cause is a wrong bit in the packet's
 * flags. */
static bool clears_what_it_needs(const struct sequence *q, const struct packet *k) {
  struct pb c = pb_inside(&k->event);
  struct pb_field f;
  if (!(k->flags & SEQUENCE_NEEDS_STATE) || !k->event.p || k->defaults.p || k->interned.p || !q->valid || !q->has_track) return false;
  while (pb_next(&c, &f))
    if (f.number == EVENT_TRACK_UUID) return false;
  return true;
}

static void sequence_state(struct perfetto *r, struct sequence *q, struct packet *k) {
  if (k->flags & SEQUENCE_CLEARED && clears_what_it_needs(q, k)) {
    perfetto_damage(r, "packet that clears the state it needs: the state is kept");
    k->flags &= ~(uint64_t)SEQUENCE_CLEARED;
  }
  if (k->dropped) q->valid = false;
  if (k->flags & SEQUENCE_CLEARED) sequence_clear(r, q), skip_deferred(r, q), q->cleared = true;
  if (k->defaults.p) sequence_defaults(q, &k->defaults);
  if (k->snapshot.p) k->clocks = clock_snapshot(r, q, k->machine, &k->snapshot);
  if (k->sync.p) machine_sync(r, q, k->machine, &k->sync);
}

/* Passes the packet through. Every timestamp advances an incremental clock, even the timestamp of a packet without an event. */
static void pass_packet_through(struct perfetto *r, struct sequence *q, struct packet *k) {
  bool of_sequence = k->has_timestamp && clock_of_sequence(q, k), counted = k->event.p || k->private_fields.p;
  int64_t ns;
  uint32_t clock;
  if (of_sequence && !counted) of_sequence = clock_time(r, q, k, &ns, &clock);
  if (of_sequence && !counted) k->own_ns = ns, k->has_own_ns = true;
  if (!r->filed) passthrough_packet(r, q, k, of_sequence && !counted ? &ns : NULL);
}

void perfetto_read_deferred(struct perfetto *r) {
  struct pb_field f, compressed;
  for (uint32_t i = 1; i <= r->n_sequences; i++) {
    if (r->sequences[i].deferred.len == 0) continue;
    struct buf packets = r->sequences[i].deferred;
    r->sequences[i].deferred = (struct buf){0};
    r->sequences[i].valid = r->sequences[i].cleared = true;
    r->offset = r->sequences[i].first_deferred;
    perfetto_note(r, TK_NOTE_REPAIR, "packet sequence without its first packet, which sets its state: read anyway");
    for (struct pb c = pb_over(packets.data, packets.len); pb_next(&c, &f);) perfetto_packet(r, f.p, (size_t)f.value, &compressed);
    buf_free(&packets);
  }
}

/* ---- packets ---- */

/* Reads a track descriptor. Passes it through unless the writer must create a new one: if the descriptor has private fields, if it
 * belongs to a counter whose samples are converted, or if it is damaged (readers of the output could not parse it). */
static void take_descriptor(struct perfetto *r, struct sequence *q, const struct packet *k) {
  bool whole;
  uint32_t at = track_descriptor(r, q, k->machine, &k->descriptor, &whole);
  struct node *n = &r->nodes[at];
  if (!at || k->damaged) return;
  bool anew = n->has_private && !n->is_default; /* private fields of the root track need not be written again */
  if (!whole || anew || (n->kind == NODE_COUNTER && (n->incremental || n->multiplier != 1))) n->as_it_came = false;
  else if (!r->filed) passthrough_descriptor(r, q, k, n, n->has_events);
}

/* Reads content that is also passed through. Returns false if it is only kept for Perfetto output. */
static bool read_other(struct perfetto *r, struct sequence *q, const struct packet *k) {
  if (k->damaged || (r->filed && k->content.number != PACKET_PERF_SAMPLE)) return false;
  switch (k->content.number) {
  case PACKET_GPU_RENDER_STAGE: return perfetto_gpu_stage(r, q, k);
  case PACKET_GPU_ANNOTATION: return gpu_annotation(r, q, k);
  case PACKET_PERF_SAMPLE: return samples_perf(r, q, k);
  case PACKET_GPU_COUNTER: return gpu_counters_read(r, q, k);
  case PACKET_GPU_MEMORY: return gpu_memory_read(r, q, k);
  case PACKET_VULKAN_API: return gpu_submit_read(r, q, k);
  case PACKET_FTRACE: perfetto_ftrace(r, k); return true;
  case PACKET_SYS_STATS: return system_stats(r, q, k);
  case PACKET_PROCESS_TREE: system_tree(r, k); return false;
  case PACKET_SYSTEM_INFO: sched_kernel(r, &k->content); return false;
  default: return false;
  }
}

static void read_content(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const unsigned has = k->interned.p ? sequence_intern(r, q, &k->interned) : 0;
  if (has & INTERNED_HAS_STACKS) samples_intern(r, q, &k->interned);
  if (has & INTERNED_HAS_COUNTERS && !r->filed) gpu_counters_intern(r, q, k);
  if (k->descriptor.p) take_descriptor(r, q, k);
  if (k->process.p) track_old_process(r, k->machine, &k->process);
  if (k->thread.p) track_old_thread(r, q, k->machine, &k->thread);
  if (k->extension.p) extension_descriptor(r, q, k);
  if (k->event.p) perfetto_track_event(r, q, k);
  else if (k->stage.p) gpu_own_read(r, q, k);
  else if (k->private_fields.p && !passthrough_block(r, k) && !passthrough_untimed_again(r, q, k)) perfetto_private_packet(r, q, k);
  else if (k->other && !read_other(r, q, k)) note_other(r, k);
}

static void take_packet(struct perfetto *r, struct packet *k) {
  struct sequence *q = perfetto_sequence(r, k->machine, k->sequence);
  if (!q) return;
  bool needs = k->flags & SEQUENCE_NEEDS_STATE && !(k->flags & SEQUENCE_CLEARED);
  if (needs && !q->cleared && !k->damaged) {
    defer(r, q, k);
    return;
  }
  perfetto_count(r, k, k->n);
  sequence_state(r, q, k);
  if (k->attributes.p && !read_attributes(r, &k->attributes)) k->other = PACKET_TRACE_ATTRIBUTES;
  if (!k->damaged) pass_packet_through(r, q, k);
  if (k->flags & SEQUENCE_NEEDS_STATE && !q->valid) skip_packets(r, r->offset, 1, k->event.p != NULL);
  else read_content(r, q, k);
  int64_t ns;
  uint32_t clock;
  if (k->damaged && !k->event.p && !k->private_fields.p) clock_time(r, q, k, &ns, &clock); /* to advance an incremental clock */
}

static bool read_any_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed) {
  if (!parts_packet(r, &p, &n)) return true;
  struct pb c = pb_over(p, n);
  struct packet k = {.p = p, .n = n};
  if (!read_packet(&c, &k) || swallows(&k)) return false;
  if (r->filed) k.private_fields = (struct pb_field){0};
  samples_claim(&k);
  gpu_own_claim(&k);
  *compressed = k.compressed;
  take_packet(r, &k);
  return true;
}

/* Processes a decoded packet. Returns false if its sequence lacks a state or interned texts that the packet needs. */
static bool take_decoded(struct perfetto *r, const struct decoded *d) {
  struct sequence *q = perfetto_sequence(r, d->machine, d->sequence);
  struct packet *k = &r->taken;
  if (!q) return true;
  if (d->flags & SEQUENCE_NEEDS_STATE && !(q->cleared && q->valid)) return false;
  k->event = (struct pb_field){PACKET_TRACK_EVENT, PB_BYTES, d->n_event, d->event};
  k->private_fields = (struct pb_field){PACKET_TRACEKIT, PB_BYTES, d->n_private, d->private_fields};
  k->timestamp = d->timestamp;
  k->has_timestamp = d->has_timestamp;
  k->sequence = d->sequence;
  k->machine = d->machine;
  k->flags = d->flags;
  k->clock = d->clock;
  k->has_clock = d->has_clock;
  k->p = d->p;
  k->n = d->n;
  if (!perfetto_decoded_event(r, q, k, d)) return false;
  perfetto_count(r, k, k->n);
  return true;
}

bool perfetto_take_packet(struct perfetto *r, const struct decoded *d, struct pb_field *compressed) {
  *compressed = (struct pb_field){0};
  prune_if_due(r);
  prune_packets_if_due(r);
  return (d->is_event && take_decoded(r, d)) || read_any_packet(r, d->p, d->n, compressed);
}

bool perfetto_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed) {
  uint32_t what[DECODED_ARGS];
  uint8_t values[DECODED_VALUES];
  struct decoded_point points[DECODED_POINTS];
  struct decoded d;
  if (r->opt->no_templates) return read_any_packet(r, p, n, compressed);
  r->decoder.what = what;
  r->decoder.values = values;
  r->decoder.points = points;
  decode_one(&r->decoder, p, n, &d);
  return perfetto_take_packet(r, &d, compressed);
}

/* ---- damage ---- */

/* True if the bytes consist of those numeric fields that usually follow a packet's message, each at most once. */
static bool is_tail(const uint8_t *p, const uint8_t *end) {
  struct pb c = pb_over(p, (size_t)(end - p));
  struct pb_field f;
  uint64_t seen = 0;
  while (pb_next(&c, &f)) {
    bool known = f.number == PACKET_TIMESTAMP || f.number == PACKET_SEQUENCE_ID || f.number == PACKET_SEQUENCE_FLAGS ||
                 f.number == PACKET_STATE_CLEARED || f.number == PACKET_TIMESTAMP_CLOCK_ID;
    if (!known || f.wire != PB_VARINT || seen >> f.number & 1) return false;
    seen |= 1ull << f.number;
  }
  return !c.fault && seen >> PACKET_SEQUENCE_ID & 1;
}

/* Returns the start of the numeric fields at the end of a packet; the end of the packet if there are none. */
static const uint8_t *tail_of(const uint8_t *p, const uint8_t *end) {
  enum { TAIL_MOST = 48 };
  if (end - p > TAIL_MOST) p = end - TAIL_MOST;
  while (p < end && !is_tail(p, end)) p++;
  return p;
}

/* Reads a message whose length exceeds the packet. The message ends where the numeric fields begin. */
static void read_cut_field(const uint8_t *p, const uint8_t *end, struct packet *k) {
  struct pb c = pb_over(p, (size_t)(end - p));
  uint64_t tag, length;
  if (!pb_varint(&c, &tag) || (tag & 7) != PB_BYTES || !pb_varint(&c, &length) || length <= (uint64_t)(c.end - c.p)) return;
  struct pb_field f = {.number = (uint32_t)(tag >> 3), .wire = PB_BYTES, .p = c.p, .value = (uint64_t)(c.end - c.p)};
  if (f.number == PACKET_TRACK_EVENT) k->event = f;
  if (f.number == PACKET_INTERNED_DATA) k->interned = f;
}

/* Processes the fields before the damage, and the numeric fields at the end of the packet. If the id of the sequence is
 * missing, uses the sequence of the previous packet. */
void perfetto_damaged_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed) {
  const uint8_t *tail = tail_of(p, p + n), *at = p;
  struct pb c = pb_over(p, (size_t)(tail - p));
  struct packet k = {.damaged = true, .p = p, .n = n};
  struct pb_field f;
  for (; pb_next(&c, &f); at = c.p) {}
  c = pb_over(p, (size_t)(at - p));
  read_packet(&c, &k);
  read_cut_field(at, tail, &k);
  c = pb_over(tail, (size_t)(p + n - tail));
  read_packet(&c, &k);
  if (r->filed) k.private_fields = (struct pb_field){0};
  samples_claim(&k);
  gpu_own_claim(&k);
  if (!k.has_sequence && r->last_sequence) {
    k.machine = (uint32_t)(r->last_sequence_key >> 32);
    k.sequence = (uint32_t)r->last_sequence_key;
  }
  bool any = k.event.p || k.interned.p || k.descriptor.p || k.snapshot.p || k.defaults.p || k.compressed.p || k.private_fields.p;
  perfetto_damage(r, any ? "damaged packet, read as far as possible" : "damaged packet: skipped");
  r->t->counts.dropped++;
  *compressed = k.compressed;
  take_packet(r, &k);
}
