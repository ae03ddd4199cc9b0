/* passthrough.c - packets that are not modelled here (ftrace, process stats, samples, configuration, ...) are kept as they are.
 *
 * They go back into a Perfetto file on the sequence that they came on; what we write ourselves goes onto other sequences.  So a
 * sequence that holds such packets keeps its state as well: clearings, defaults, interned data.  Whether it holds any is known only
 * when one comes, so each sequence remembers its state since the last clearing until then; sequences of nothing but track events
 * leave nothing behind.  What the graph holds (track events, descriptors) is stripped, and a time that counts from packet to packet
 * becomes a time of the trace's clock, since the packets that it counts from may be gone.
 *
 * The packets are one or more metas "perfetto.packets", framed as in a file; "perfetto.clock" is the id of the trace's clock if it
 * is not BOOTTIME. */
#include <string.h>

#include "format/pb_out.h"
#include "reader.h"
#include "writer.h"

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
static void strip(struct perfetto *r, const struct packet *k, const uint8_t *p, size_t n, const int64_t *ns, struct buf *to) {
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
static void keep(struct perfetto *r, const struct buf *packets) {
  struct tk_trace *t = r->t;
  struct buf *raw = &t->store->raw;
  struct tk_meta *m = r->kept ? &t->metas[r->kept] : NULL;
  if (packets->len == 0) return;
  if (!m || m->at + m->size != raw->len) {
    m = trace_add_meta(t);
    *m = (struct tk_meta){.key = trace_text(t, "perfetto.packets"), .at = raw->len, .origin = PERFETTO_FORMAT};
    r->kept = t->n_metas;
  }
  if (buf_append(raw, packets->data, packets->len)) m->size += packets->len;
}

void perfetto_keep(struct perfetto *r, struct sequence *q, const struct packet *k, const uint8_t *p, size_t n, const int64_t *ns) {
  bool snapshot = k->snapshot.p && !k->of_sequence, now;
  if (!k->other && !snapshot && !k->dropped && !(k->flags & SEQUENCE_CLEARED) && !k->defaults.p && !k->interned.p) return;
  q->pending.mem = r->packets.mem = &r->t->store->mem;
  if (k->flags & SEQUENCE_CLEARED) q->pending.len = 0;
  if (k->other && !q->has_others) {
    q->has_others = true;
    keep(r, &q->pending);
    buf_free(&q->pending);
  }
  now = q->has_others || snapshot;
  r->packets.len = 0;
  strip(r, k, p, n, ns, now ? &r->packets : &q->pending);
  if (now) keep(r, &r->packets);
}

void perfetto_keep_clock(struct perfetto *r) {
  struct tk_meta *m;
  char text[24];
  if (!r->kept || r->trace_clock == CLOCK_BOOTTIME) return;
  m = trace_add_meta(r->t);
  *m = (struct tk_meta){.key = trace_text(r->t, "perfetto.clock"), .at = r->t->store->raw.len, .origin = PERFETTO_FORMAT};
  m->size = num_put_u64(text, r->trace_clock);
  buf_append(&r->t->store->raw, text, (size_t)m->size);
  trace_end_raw(r->t);
}

/* ---- back ---- */

static bool says_realtime(const struct pb_field *snapshot) {
  struct pb c = pb_inside(snapshot);
  struct pb_field clock, f;
  while (pb_next(&c, &clock))
    for (struct pb in = pb_inside(&clock); clock.number == SNAPSHOT_CLOCKS && pb_next(&in, &f);)
      if (pb_field_key(&f) == PB_KEY(CLOCK_ID, PB_VARINT) && f.value == CLOCK_REALTIME) return true;
  return false;
}

static void look_at(struct perfetto_sink *s, const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT)) map_put(&s->sequences, (uint32_t)f.value, 1);
    if (pb_field_key(&f) == PB_KEY(PACKET_CLOCK_SNAPSHOT, PB_BYTES)) s->has_clocks = s->has_clocks || says_realtime(&f);
    if (f.number == PACKET_REMOTE_CLOCK_SYNC) s->has_remote_clocks = true;
  }
}

void writer_kept(struct perfetto_sink *s, const struct tk_trace *t) {
  const uint8_t *end;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    const char *key = tk_string(t, m->key, NULL);
    struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
    struct pb_field f;
    if (!m->origin || m->size == 0) continue;
    if (strcmp(key, "perfetto.clock") == 0) s->clock = (uint32_t)num_scan((const uint8_t *)trace_raw(t, m->at), &end).mant;
    if (strcmp(key, "perfetto.packets") != 0) continue;
    while (pb_next(&c, &f)) look_at(s, &f);
    out_write(s->out, trace_raw(t, m->at), (size_t)m->size);
  }
}

uint32_t writer_sequence(struct perfetto_sink *s) {
  while (map_get(&s->sequences, s->next_sequence)) s->next_sequence++;
  return s->next_sequence++;
}

/* ---- tracks ---- */

void writer_kept_tracks(struct perfetto_sink *s) {
  const struct tk_meta *m = s->kept_tracks = trace_meta(s->t, "perfetto.tracks");
  struct pb_field entry, f;
  map_init(&s->kept, &s->mem);
  if (!m || !m->origin) return;
  struct pb c = pb_over(trace_raw(s->t, m->at), (size_t)m->size);
  for (const uint8_t *start = c.p, *from = c.p; pb_next(&c, &entry); from = c.p) {
    struct pb in = pb_inside(&entry);
    if (pb_next(&in, &f) && f.number == KEPT_TRACK) map_put(&s->kept, f.value, (uint32_t)(from - start));
  }
}

static bool kept_entry(const struct perfetto_sink *s, tk_id track, struct pb_field *entry) {
  const uint32_t *at = track ? map_get(&s->kept, track) : NULL;
  const struct tk_meta *m = s->kept_tracks;
  if (!at) return false;
  struct pb c = pb_over(trace_raw(s->t, m->at + *at), (size_t)m->size - *at);
  return pb_next(&c, entry);
}

void writer_kept_fields(struct perfetto_sink *s, tk_id track, bool own, struct buf *to) {
  struct pb_field entry, f;
  if (!kept_entry(s, track, &entry)) return;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (f.number == (own ? KEPT_OWN : KEPT_DESCRIPTOR)) buf_append(to, f.p, (size_t)f.value);
}

bool writer_kept_pid(struct perfetto_sink *s, tk_id track, int64_t *pid) {
  struct pb_field entry, f;
  if (!kept_entry(s, track, &entry)) return false;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (f.number == KEPT_PID) return *pid = (int64_t)f.value, true;
  return false;
}
