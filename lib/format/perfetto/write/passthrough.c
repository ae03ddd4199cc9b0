/* passthrough.c - writes the contents of a Perfetto input that the graph cannot represent.
 *
 * Packets that are not modelled may refer to anything that an operation dropped, renamed or moved, in bytes that we cannot
 * interpret. If the trace was only cut in time, packets are chosen by their times (cut.c), and tracks keep their descriptors. After any
 * other edit, packets are omitted, and each counts as lost, except for the following data:
 *
 *     clock snapshots           not lost: the writer states relations between clocks, as all times are on the trace clock
 *     the id of the clock       kept, because times are still on this clock
 *     descriptors of tracks     not lost: their contents are in the graph, and new ones are written
 *     extension descriptors     kept if any arg still has such a field (extension.c)
 *     fields of a track         kept with their track, until tracks are renamed */
#include "passthrough.h"
#include "format/carry.h"
#include "cut.h"
#include "format/perfetto/timeline.h"
#include "writer.h"

#include <string.h>

/* ---- packets ---- */

static bool says_realtime(const struct pb_field *snapshot) {
  struct pb c = pb_inside(snapshot);
  struct pb_field clock, f;
  while (pb_next(&c, &clock))
    for (struct pb in = pb_inside(&clock); clock.number == SNAPSHOT_CLOCKS && pb_next(&in, &f);)
      if (pb_field_key(&f) == PB_KEY(CLOCK_ID, PB_VARINT) && f.value == CLOCK_REALTIME) return true;
  return false;
}

static void scan_packet(struct perfetto_sink *s, const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT)) map_put(&s->sequences, (uint32_t)f.value, 1);
    if (pb_field_key(&f) == PB_KEY(PACKET_CLOCK_SNAPSHOT, PB_BYTES)) {
      s->has_clocks = true;
      s->has_realtime = s->has_realtime || says_realtime(&f);
    }
    if (f.number == PACKET_REMOTE_CLOCK_SYNC) s->has_remote_clocks = true;
  }
}

/* Writes the packet without the events that are also in the graph. The rest is needed because the packet's sequence may depend
 * on it. */
static void write_rest(struct perfetto_sink *s, const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  bool has_state = false;
  s->packet.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    const bool is_content = f.wire == PB_BYTES;
    if (is_content && !timeline_rest(&f, s->has_sched, &s->inner)) continue;
    has_state = has_state || is_content || (f.number == PACKET_SEQUENCE_FLAGS && f.value & SEQUENCE_CLEARED);
    if (is_content && s->inner.len) pb_message(&s->packet, f.number, &s->inner);
    else buf_append(&s->packet, from, (size_t)(c.p - from));
  }
  if (has_state) writer_packet(s->out, &s->packet);
}

/* True if the graph contains the tracks of CPUs, even though the trace came from another format that embedded them. */
static bool has_sched(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_PROCESS && strcmp(tk_string(t, t->tracks[i].name, NULL), SCHED_PROCESS) == 0) return true;
  return false;
}

static bool has_tracks_in_packets(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].in_packets) return true;
  return false;
}

/* True if any of the packet's events are also in the graph. */
static bool has_read(const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.wire == PB_BYTES && timeline_may(f.number)) return true;
  return false;
}

/* Writes fields of a file unchanged, except for packets with events that the graph contains as well, if no track states that
 * its events are in packets (which happens if another format embedded the packets): these packets are written without the
 * events. */
static void write_fields(struct perfetto_sink *s, const void *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct pb_field packet;
  for (const uint8_t *from = c.p; pb_next(&c, &packet); from = c.p) {
    scan_packet(s, &packet);
    if (!s->whole_packets && has_read(&packet)) write_rest(s, &packet);
    else out_write(s->out, from, (size_t)(c.p - from));
  }
}

/* True if the packets and descriptors are still valid for the graph. */
static bool stays_valid(const struct tk_trace *t) { return !t->edits || trace_cut_of(t); }

static void write_cut_packets(struct perfetto_sink *s, const struct tk_trace *t, const struct tk_meta *m, struct cut *cut) {
  struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
  struct pb_field packet;
  while (pb_next(&c, &packet)) {
    const struct buf *left = cut_packet(cut, &packet);
    write_fields(s, left->data, left->len);
  }
}

/* Writes the packets that a cut in time keeps. Returns false if other edits were made. */
static bool write_cut(struct perfetto_sink *s, const struct tk_trace *t) {
  struct cut cut;
  if (!cut_begin(&cut, t, &s->mem)) return false;
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) write_cut_packets(s, t, &t->metas[i], &cut);
  cut_end(&cut);
  return true;
}

/* Writes the packets if they are still valid after `edits`; otherwise counts those packets as lost whose content is not in the
 * graph. */
static void write_packets(struct perfetto_sink *s, const struct tk_trace *t, const struct tk_meta *m, unsigned edits) {
  if (!edits) {
    write_fields(s, trace_raw(t, m->at), (size_t)m->size);
    return;
  }
  struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
  struct pb_field packet;
  while (pb_next(&c, &packet))
    if (!passthrough_is_clocks(&packet) && !passthrough_is_read(&packet)) sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, 1);
}

void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t, bool first) {
  s->whole_packets = was_perfetto(t) || has_tracks_in_packets(t);
  s->has_sched = has_sched(t);
  s->keeps_packets = first && stays_valid(t) && !s->opt.no_passthrough;
  if (s->opt.no_passthrough) return;
  const struct tk_meta *clock = first ? passthrough_find(t, PASSTHROUGH_CLOCK) : NULL;
  const uint8_t *end;
  if (s->opt.start.known) s->clock = (uint32_t)s->opt.start.of_first;
  else if (clock) s->clock = (uint32_t)num_scan((const uint8_t *)trace_raw(t, clock->at), &end).mant;
  if (first && write_cut(s, t)) return;
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) write_packets(s, t, &t->metas[i], first ? t->edits : TK_EDIT_MOVED);
}

void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after) {
  for (tk_id i = 1; i <= t->n_metas && stays_valid(t); i++) {
    const struct tk_meta *m = &t->metas[i];
    if (m->after == after && passthrough_is(t, m, PASSTHROUGH_DESCRIPTORS)) write_packets(s, t, m, 0);
  }
}

/* ---- blocks of other formats ---- */

void write_blocks(struct perfetto_sink *s) {
  enum { PIECE = 1 << 20 }; /* small, because readers keep a packet in memory */
  const uint8_t *p;
  const char *format;
  size_t n;
  for (unsigned i = 0; (p = carry_take(s->opt.carry, i, &format, &n)) != NULL; i++)
    for (size_t at = 0; at < n; at += PIECE) {
      s->inner.len = s->private_fields.len = s->packet.len = 0;
      pb_bytes(&s->inner, BLOCK_FORMAT, format, strlen(format));
      pb_bytes(&s->inner, BLOCK_BYTES, p + at, n - at < PIECE ? n - at : PIECE);
      pb_message(&s->private_fields, TRACEKIT_BLOCK, &s->inner);
      pb_message(&s->packet, PACKET_TRACEKIT, &s->private_fields);
      writer_packet(s->out, &s->packet);
    }
}

/* ---- sequences ---- */

uint32_t passthrough_sequence(struct perfetto_sink *s) {
  while (map_get(&s->sequences, s->next_sequence)) s->next_sequence += s->step;
  const uint32_t sequence = s->next_sequence;
  s->next_sequence += s->step;
  return sequence;
}

/* ---- tracks ---- */

/* True if the entry contains more than the track's uuid and parent. */
static bool says_fields(const struct pb_field *entry) {
  struct pb_field f;
  for (struct pb in = pb_inside(entry); pb_next(&in, &f);)
    if (f.number >= PASSTHROUGH_FIELDS && f.number <= PASSTHROUGH_PID) return true;
  return false;
}

void passthrough_tracks_begin(struct perfetto_sink *s) {
  const struct tk_meta *m = s->passthrough_tracks = passthrough_find(s->t, PASSTHROUGH_TRACKS);
  struct pb_field entry, f;
  map_init(&s->passthrough_at, &s->mem);
  if (!m) return;
  struct pb c = pb_over(trace_raw(s->t, m->at), (size_t)m->size);
  for (const uint8_t *start = c.p, *from = c.p; pb_next(&c, &entry); from = c.p) {
    struct pb in = pb_inside(&entry);
    if (s->t->edits & TK_EDIT_RENAMED) sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, says_fields(&entry));
    else if (pb_next(&in, &f) && f.number == PASSTHROUGH_TRACK) map_put(&s->passthrough_at, f.value, (uint32_t)(from - start));
  }
}

static bool passthrough_entry(const struct perfetto_sink *s, tk_id track, struct pb_field *entry) {
  const uint32_t *at = track ? map_get(&s->passthrough_at, track) : NULL;
  const struct tk_meta *m = s->passthrough_tracks;
  if (!at) return false;
  struct pb c = pb_over(trace_raw(s->t, m->at + *at), (size_t)m->size - *at);
  return pb_next(&c, entry);
}

void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to) {
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return;
  const uint32_t wanted = PB_KEY(inner ? PASSTHROUGH_INNER_FIELDS : PASSTHROUGH_FIELDS, PB_BYTES);
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (pb_field_key(&f) == wanted) buf_append(to, f.p, (size_t)f.value);
}

/* Only valid for a trace that no operation has changed, except for a cut in time. */
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track) {
  struct kept_track k = {.has_uuid = false};
  struct pb_field entry, f;
  if (!stays_valid(s->t) || !passthrough_entry(s, track, &entry)) return k;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);) {
    if (f.number == PASSTHROUGH_UUID) k.uuid = f.value, k.has_uuid = true;
    if (f.number == PASSTHROUGH_PARENT) k.parent = f.value, k.has_parent = true;
  }
  return k;
}

bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid) {
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return false;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);)
    if (f.number == PASSTHROUGH_PID) {
      *pid = (int64_t)f.value;
      return true;
    }
  return false;
}
