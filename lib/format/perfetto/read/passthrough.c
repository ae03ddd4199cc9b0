/* passthrough.c - passes through packets that are not modelled (ftrace, process stats, samples, configuration, ...).
 *
 * The writer writes these packets on their original sequences, and its own packets on new sequences. Therefore the state of a sequence
 * that has such packets is passed through, too: resets of the incremental state, defaults, interned data. Before the first such packet,
 * each sequence stores its state since the last reset, in case such a packet follows; a sequence that only has track events passes
 * nothing through. Contents that the graph represents (track events, descriptors) are removed from a packet. A time on an incremental
 * clock is converted to the trace clock, because the preceding packets, which define the time, may be removed. */
#include <stdlib.h>
#include <string.h>

#include "passthrough.h"
#include "early.h"
#include "format/pb_out.h"
#include "format/perfetto/head.h"
#include "reader.h"
#include "clock.h"

static bool is_modelled(const struct pb_field *f) {
  switch (f->number) {
  case PACKET_TRACK_EVENT:
  case PACKET_TRACK_DESCRIPTOR:
  case PACKET_PROCESS_DESCRIPTOR:
  case PACKET_THREAD_DESCRIPTOR:
  case PACKET_EXTENSION_DESCRIPTOR:
  case PACKET_COMPRESSED:
  case PACKET_ZSTD:
  case PACKET_TRACEKIT: return true;
  default: return false;
  }
}

static bool is_of_packet(const struct pb_field *f) { return head_is_transport(f->number); }

/* True if the packet has a snapshot with clocks that other sequences also use. */
static bool is_shared(const struct packet *k) { return k->snapshot.p && (!k->clocks.local || k->clocks.shared > 1); }

/* Appends the snapshot without the clocks that are local to its sequence, because no packet of the output uses these clocks. */
static void keep_shared_clocks(struct perfetto *r, const struct pb_field *snapshot) {
  struct pb c = pb_inside(snapshot);
  struct pb_field f;
  r->text.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    const bool is_clock = pb_field_key(&f) == PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES);
    if (!is_clock || !clock_is_local(head_number(&f, CLOCK_ID, 0))) buf_append(&r->text, from, (size_t)(c.p - from));
  }
  pb_message(&r->copy, PACKET_CLOCK_SNAPSHOT, &r->text);
}

/* Copies to r->copy those fields of the packet for which `keep` returns true. `ns`: time on the trace clock that replaces the
 * packet's time; NULL = none. `no_time`: drops the time. */
static void keep_fields(struct perfetto *r, const struct packet *k, bool (*keep)(const struct pb_field *f), bool no_time,
                        const int64_t *ns) {
  struct buf *b = &r->copy;
  struct pb c = pb_over(k->p, k->n);
  struct pb_field f;
  b->len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    bool time = (no_time || ns) && (f.number == PACKET_TIMESTAMP || f.number == PACKET_TIMESTAMP_CLOCK_ID);
    const bool has_local = f.number == PACKET_CLOCK_SNAPSHOT && k->clocks.local;
    if (!keep(&f) || time || (has_local && !is_shared(k))) continue;
    if (has_local) keep_shared_clocks(r, &f);
    else buf_append(b, from, (size_t)(c.p - from));
  }
  if (!ns) return;
  pb_u64(b, PACKET_TIMESTAMP, (uint64_t)*ns);
  pb_u64(b, PACKET_TIMESTAMP_CLOCK_ID, r->trace_clock);
}

static bool is_kept(const struct pb_field *f) { return !is_modelled(f); }
static bool is_kept_of_sample(const struct pb_field *f) { return !is_modelled(f) && f->number != PACKET_PERF_SAMPLE; }
static bool is_kept_of_stage(const struct pb_field *f) {
  return !is_modelled(f) && f->number != PACKET_GPU_RENDER_STAGE && f->number != PACKET_GPU_COUNTER;
}

/* Appends packets to the meta of packets that was added last, or adds a new one if other raw data was added since. */
static void append_packets(struct perfetto *r, const struct buf *packets) {
  struct tk_trace *t = r->t;
  struct buf *raw = &t->store->raw;
  struct tk_meta *m = r->passthrough ? &t->metas[r->passthrough] : NULL;
  if (packets->len == 0) return;
  if (!m || m->at + m->size != raw->len) {
    m = trace_add_meta(t);
    *m = (struct tk_meta){.key = trace_text(t, PASSTHROUGH_PACKETS), .at = raw->len, .origin = PERFETTO_FORMAT};
    r->passthrough = t->n_metas;
  }
  if (buf_append(raw, packets->data, packets->len)) m->size += packets->len;
}

/* Starts passing through the state of a sequence, from the last reset of its incremental state on. */
static void keep_sequence(struct perfetto *r, struct sequence *q) {
  if (q->has_others) return;
  q->has_others = true;
  append_packets(r, &q->pending);
  buf_free(&q->pending);
}

void passthrough_other(struct perfetto *r, const uint8_t *p, size_t n) {
  r->packets.len = 0;
  buf_append(&r->packets, p, n);
  append_packets(r, &r->packets);
}

void passthrough_packet(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns) {
  bool snapshot = is_shared(k), now;
  if (!k->other && !snapshot && !k->dropped && !(k->flags & SEQUENCE_CLEARED) && !k->defaults.p && !k->interned.p) return;
  q->pending.mem = &r->t->store->mem;
  q->had_defaults = q->had_defaults || k->defaults.p;
  if (k->flags & SEQUENCE_CLEARED) q->pending.len = 0;
  if (k->other) keep_sequence(r, q);
  now = q->has_others || snapshot;
  keep_fields(r, k, k->sample.p ? is_kept_of_sample : k->stage.p ? is_kept_of_stage : is_kept, k->event.p || k->private_fields.p, ns);
  if (now && r->t->store->early.asked && !early_packet(r, q)) return;
  r->packets.len = 0;
  pb_message(now ? &r->packets : &q->pending, TRACE_PACKET, &r->copy);
  if (now) append_packets(r, &r->packets);
}

/* Copies a legacy_event to r->fields. If the event is on no track, adds the thread of its sequence: importers apply that thread
 * only to packets after the thread descriptor, and the output contains the descriptor elsewhere. */
static void keep_legacy(struct perfetto *r, const struct sequence *q, const struct track_event *e, const struct pb_field *legacy) {
  const uint64_t uuid = e->has_track ? e->track_uuid : q->has_track ? q->default_track : 0;
  const bool is_of_sequence = !uuid && q->has_thread && (!e->has_track || !e->has_type);
  r->fields.len = 0;
  buf_append(&r->fields, legacy->p, (size_t)legacy->value);
  if (!is_of_sequence || e->has_pid) return;
  pb_i64(&r->fields, LEGACY_PID_OVERRIDE, q->pid);
  if (!e->has_tid) pb_i64(&r->fields, LEGACY_TID_OVERRIDE, q->tid);
}

/* Copies an event to r->text without its counter samples, which are in the graph, and with sums instead of deltas. */
static void keep_event(struct perfetto *r, const struct sequence *q, const struct track_event *e, const struct pb_field *event) {
  struct pb c = pb_inside(event);
  struct pb_field f;
  r->text.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    switch (f.number) {
    case EVENT_EXTRA_VALUES:
    case EVENT_EXTRA_UUIDS:
    case EVENT_EXTRA_DOUBLE_VALUES:
    case EVENT_EXTRA_DOUBLE_UUIDS: break;
    case EVENT_THREAD_TIME_DELTA_US: pb_i64(&r->text, EVENT_THREAD_TIME_ABSOLUTE_US, q->thread_us); break;
    case EVENT_LEGACY:
      keep_legacy(r, q, e, &f);
      pb_message(&r->text, EVENT_LEGACY, &r->fields);
      break;
    case EVENT_INSTRUCTIONS_DELTA: pb_i64(&r->text, EVENT_INSTRUCTIONS_ABSOLUTE, q->instructions); break;
    default: buf_append(&r->text, from, (size_t)(c.p - from));
    }
  }
}

void passthrough_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct track_event *e, bool on_sequence) {
  const int64_t *ns = on_sequence ? &e->ns : NULL;
  keep_sequence(r, q);
  keep_event(r, q, e, &k->event);
  r->packets.len = 0;
  keep_fields(r, k, is_of_packet, false, ns);
  if (k->flags & SEQUENCE_NEEDS_STATE) pb_u64(&r->copy, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  pb_message(&r->copy, PACKET_TRACK_EVENT, &r->text);
  pb_message(&r->packets, TRACE_PACKET, &r->copy);
  append_packets(r, &r->packets);
}

/* ---- events without a usable time ---- */

/* Keeps a packet whose event has no usable time, inside a private field. Whether a time is usable depends on clocks, defaults and
 * snapshots. Damage may have changed these, and the output contains new ones. Inside a private field, no reader, including ours, can
 * give the packet a time that it never had. */
static void keep_untimed(struct perfetto *r, struct sequence *q, const struct packet *k, const void *p, size_t n) {
  keep_sequence(r, q);
  r->text.len = r->packets.len = 0;
  pb_bytes(&r->text, TRACEKIT_UNTIMED, p, n);
  r->copy.len = 0;
  if (k->sequence) pb_u64(&r->copy, PACKET_SEQUENCE_ID, k->sequence);
  if (k->machine) pb_u64(&r->copy, PACKET_MACHINE_ID, k->machine);
  pb_message(&r->copy, PACKET_TRACEKIT, &r->text);
  pb_message(&r->packets, TRACE_PACKET, &r->copy);
  append_packets(r, &r->packets);
}

static void note_untimed(struct perfetto *r) {
  r->t->counts.dropped++;
  perfetto_note(r, TK_NOTE_REPAIR, "track event without a usable time: kept only in Perfetto output");
}

void passthrough_untimed(struct perfetto *r, struct sequence *q, const struct packet *k, bool whole) {
  note_untimed(r);
  if (!whole) return;
  keep_fields(r, k, is_of_packet, false, NULL);
  if (k->flags & SEQUENCE_NEEDS_STATE) pb_u64(&r->copy, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  pb_bytes(&r->copy, PACKET_TRACK_EVENT, k->event.p, (size_t)k->event.value);
  r->fields.len = 0;
  buf_append(&r->fields, r->copy.data, r->copy.len);
  keep_untimed(r, q, k, r->fields.data, r->fields.len);
}

bool passthrough_untimed_again(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct pb_field f;
  bool any = false;
  for (struct pb c = pb_inside(&k->private_fields); pb_next(&c, &f); any = true) {
    if (pb_field_key(&f) != PB_KEY(TRACEKIT_UNTIMED, PB_BYTES)) return any;
    r->t->counts.read++;
    note_untimed(r);
    if (!k->damaged) keep_untimed(r, q, k, f.p, (size_t)f.value);
  }
  return any;
}

/* ---- descriptors ---- */

/* True if the packet's time is on a clock of the sequence, or on a clock other than the trace clock. */
static bool has_other_clock(const struct perfetto *r, const struct sequence *q, const struct packet *k) {
  const uint32_t id = k->has_clock ? k->clock : q->default_clock;
  return clock_of_sequence(q, k) || (k->has_timestamp && k->machine == 0 && id && id != r->trace_clock);
}

/* Appends a packet with only its field `f`, which becomes the last field. Its time is converted to the trace clock, because descriptors
 * are written before snapshots of clocks, and importers apply them in the order of their times. A time that cannot be converted is
 * dropped; otherwise importers would ignore the packet. */
static void append_descriptor(struct perfetto *r, struct sequence *q, const struct packet *k, const struct pb_field *f,
                              struct buf *to) {
  const bool is_other = has_other_clock(r, q, k);
  int64_t ns = k->own_ns;
  uint32_t clock;
  const bool is_known = k->has_own_ns || (is_other && !clock_of_sequence(q, k) && clock_time(r, q, k, &ns, &clock));
  keep_fields(r, k, is_of_packet, is_other, is_known ? &ns : NULL);
  pb_bytes(&r->copy, f->number, f->p, (size_t)f->value);
  pb_message(to, TRACE_PACKET, &r->copy);
}

/* Keeps a descriptor unless it equals the previous one, because producers repeat descriptors when they clear their sequence. */
void passthrough_descriptor(struct perfetto *r, struct sequence *q, const struct packet *k, struct node *n, bool late) {
  struct buf *to = late ? &r->late_descriptors : &r->descriptors;
  const struct pb_field *f = &k->descriptor;
  const struct buf *last = n->descriptor_late ? &r->late_descriptors : &r->descriptors;
  bool again = n->as_it_came && n->descriptor_size == f->value && memcmp(last->data + n->descriptor_at, f->p, (size_t)f->value) == 0;
  n->as_it_came = true;
  if (again) return;
  append_descriptor(r, q, k, f, to);
  if (r->t->store->mem.failed) return;
  n->descriptor_at = to->len - f->value;
  n->descriptor_size = (uint32_t)f->value;
  n->descriptor_late = late;
}

void passthrough_extension(struct perfetto *r, struct sequence *q, const struct packet *k) {
  append_descriptor(r, q, k, &k->extension, &r->descriptors);
}

void passthrough_descriptors(struct perfetto *r) {
  if (r->descriptors.len) perfetto_add_passthrough(r, PASSTHROUGH_DESCRIPTORS, r->descriptors.data, r->descriptors.len);
  if (!r->late_descriptors.len) return;
  perfetto_add_passthrough(r, PASSTHROUGH_DESCRIPTORS, r->late_descriptors.data, r->late_descriptors.len);
  r->t->metas[r->t->n_metas].after = true;
}

/* ---- the end ---- */

void passthrough_interned(struct perfetto *r) {
  struct buf *b = &r->copy;
  for (uint32_t i = 1; i <= r->n_generations; i++) {
    const struct generation *g = &r->generations[i];
    if (!g->number) continue;
    b->len = 0;
    pb_u64(b, INTERNED_NUMBER, g->number);
    pb_message(b, INTERNED_DATA, &g->bytes);
    perfetto_add_passthrough(r, PASSTHROUGH_INTERNED, b->data, b->len);
  }
}

void passthrough_clock(struct perfetto *r) {
  char text[24];
  if (!r->passthrough || r->trace_clock == CLOCK_BOOTTIME) return;
  perfetto_add_passthrough(r, PASSTHROUGH_CLOCK, text, num_put_u64(text, r->trace_clock));
}

static int by_own_time(const void *a, const void *b) {
  const struct clock_reading *x = a, *y = b;
  return x->own != y->own ? (x->own < y->own ? -1 : 1) : (x->trace > y->trace) - (x->trace < y->trace);
}

/* Appends the readings of a clock. The trace clock of a machine has only one reading, which is its offset from machine 0. */
static void append_readings(struct perfetto *r, const struct clock *c, struct buf *all) {
  const int64_t ahead = r->n_machines ? reader_machine_ahead(r, c->machine) : 0;
  const bool is_trace_clock = c->id == r->trace_clock;
  const uint32_t n = is_trace_clock ? 1 : c->n;
  const size_t at = all->len;
  if (c->of_sequence || c->unit != 1 || c->incremental) return;
  for (uint32_t i = 0; i < n; i++) {
    const struct clock_point p = is_trace_clock ? (struct clock_point){0, 0} : c->points[i];
    const struct clock_reading reading = {c->machine, c->id, n, 0, p.own, (int64_t)((uint64_t)p.trace - (uint64_t)ahead)};
    buf_append(all, &reading, sizeof reading);
  }
  if (!r->t->store->mem.failed && n) qsort(all->data + at, n, sizeof(struct clock_reading), by_own_time);
}

void passthrough_readings(struct perfetto *r) {
  struct clock_readings head = {.later_ns = r->later_ns, .trace_clock = r->trace_clock};
  head.origin_ns = r->t->origin_ns;
  head.base_ns = (int64_t)((uint64_t)r->t->origin_ns - (uint64_t)r->t->zero_ns + (uint64_t)r->later_ns);
  struct buf *all = &r->copy;
  if (!r->passthrough && !r->has_starts) return;
  all->len = 0;
  buf_append(all, &head, sizeof head);
  for (uint32_t i = 1; i <= r->n_clocks; i++) append_readings(r, &r->clocks[i], all);
  if (r->t->store->mem.failed) return;
  head.n = (uint32_t)((all->len - sizeof head) / sizeof(struct clock_reading));
  memcpy(all->data, &head, sizeof head);
  perfetto_add_passthrough(r, PASSTHROUGH_READINGS, all->data, all->len);
}

/* Appends a piece of the block of another format (format/carry.h). All pieces of a block are adjacent in the raw text. */
static void append_block(struct perfetto *r, tk_id name, const struct pb_field *bytes) {
  struct tk_trace *t = r->t;
  struct buf *raw = &t->store->raw;
  struct tk_meta *m = r->block ? &t->metas[r->block] : NULL;
  if (!m || m->key != name || m->at + m->size != raw->len) {
    carry_found(t, name, raw->len, 0);
    r->block = t->n_metas;
    m = &t->metas[r->block];
  }
  if (buf_append(raw, bytes->p, (size_t)bytes->value)) m->size += bytes->value;
}

bool passthrough_block(struct perfetto *r, const struct packet *k) {
  struct pb c = pb_inside(&k->private_fields), in;
  struct pb_field f, g, bytes = {0};
  bool any = false;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(TRACEKIT_BLOCK, PB_BYTES)) continue;
    tk_id name = 0;
    for (in = pb_inside(&f); pb_next(&in, &g);) {
      if (pb_field_key(&g) == PB_KEY(BLOCK_FORMAT, PB_BYTES)) name = perfetto_field_text(r, &g);
      if (pb_field_key(&g) == PB_KEY(BLOCK_BYTES, PB_BYTES)) bytes = g;
    }
    if (name && bytes.p) append_block(r, name, &bytes);
    any = true;
  }
  return any;
}
