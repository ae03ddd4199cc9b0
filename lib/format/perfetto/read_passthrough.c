/* read_passthrough.c - packets that are not modelled here (ftrace, process stats, samples, configuration, ...) are passthrough.
 *
 * The writer puts them back on the sequence that they came on, and its own packets onto other sequences.  So a sequence that holds
 * passthrough keeps its state as well: clearings, defaults, interned data.  Whether it holds any is known only when the first such
 * packet comes, so each sequence remembers its state since the last clearing until then; a sequence of nothing but track events
 * leaves nothing behind.  What the graph holds (track events, descriptors) is stripped from a packet, and a time that counts from
 * packet to packet becomes a time of the trace's clock, since the packets that it counts from may be gone. */
#include "format/pb_out.h"
#include "reader.h"

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

/* The packet less what the graph holds, with its frame, appended to `to`. */
static void strip_modelled(struct perfetto *r, const struct packet *k, const uint8_t *p, size_t n, const int64_t *ns, struct buf *to) {
  struct buf *b = &r->copy;
  struct pb c = pb_over(p, n);
  struct pb_field f;
  bool no_time = ns || k->event.p || k->private_fields.p;
  b->len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    bool time = no_time && (f.number == PACKET_TIMESTAMP || f.number == PACKET_TIMESTAMP_CLOCK_ID);
    bool sequence_clock = f.number == PACKET_CLOCK_SNAPSHOT && k->of_sequence;
    if (!is_modelled(&f) && !time && !sequence_clock) buf_append(b, from, (size_t)(c.p - from));
  }
  if (ns) {
    pb_u64(b, PACKET_TIMESTAMP, (uint64_t)*ns);
    pb_u64(b, PACKET_TIMESTAMP_CLOCK_ID, r->trace_clock);
  }
  pb_message(to, TRACE_PACKET, b);
}

/* More of the meta that was written last, unless something else came between. */
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

void passthrough_other(struct perfetto *r, const uint8_t *p, size_t n) {
  r->packets.mem = &r->t->store->mem;
  r->packets.len = 0;
  buf_append(&r->packets, p, n);
  append_packets(r, &r->packets);
}

void passthrough_packet(struct perfetto *r, struct sequence *q, const struct packet *k, const uint8_t *p, size_t n, const int64_t *ns) {
  bool snapshot = k->snapshot.p && !k->of_sequence, now;
  if (!k->other && !snapshot && !k->dropped && !(k->flags & SEQUENCE_CLEARED) && !k->defaults.p && !k->interned.p) return;
  q->pending.mem = r->packets.mem = &r->t->store->mem;
  if (k->flags & SEQUENCE_CLEARED) q->pending.len = 0;
  if (k->other && !q->has_others) {
    q->has_others = true;
    append_packets(r, &q->pending);
    buf_free(&q->pending);
  }
  now = q->has_others || snapshot;
  r->packets.len = 0;
  strip_modelled(r, k, p, n, ns, now ? &r->packets : &q->pending);
  if (now) append_packets(r, &r->packets);
}

void passthrough_clock(struct perfetto *r) {
  char text[24];
  if (!r->passthrough || r->trace_clock == CLOCK_BOOTTIME) return;
  perfetto_add_passthrough(r, PASSTHROUGH_CLOCK, text, num_put_u64(text, r->trace_clock));
}

/* Pieces of a block stand one behind the other in the raw text. */
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
