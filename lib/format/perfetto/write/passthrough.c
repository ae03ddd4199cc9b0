/* passthrough.c - writes the contents of a Perfetto input that the graph cannot represent.
 *
 * The bytes of an unmodelled packet may refer to anything that an operation dropped, renamed or moved, and we cannot interpret them. If
 * the trace was only cut in time, packets are chosen by their times (cut.c); if it was moved as a whole, they are moved (move.c).
 * Tracks then keep their descriptors. After any other edit, packets are omitted, and each counts as lost, except for the following
 * data:
 *
 *     clock snapshots           not lost: the writer states relations between clocks, as all times are on the trace clock
 *     the id of the clock       kept, because times are still on this clock
 *     descriptors of tracks     not lost: their contents are in the graph, and new ones are written
 *     extension descriptors     kept if any arg still has such a field (extension.c)
 *     fields of a track         kept with their track; the start of a process moves with its events */
#include "passthrough.h"
#include "format/carry.h"
#include "format/scheduler.h"
#include "cut.h"
#include "extension.h"
#include "move.h"
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

static bool has_field(const struct pb_field *packet, uint32_t number) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number == number) return true;
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
    if (t->tracks[i].kind == TK_TRACK_PROCESS && strcmp(tk_string(t, t->tracks[i].name, NULL), SCHEDULER_PROCESS) == 0) return true;
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

/* True if the packet names code to which events refer. Importers apply the names only to events before the packet, so it is
 * written after the events. */
static bool is_of_earlier(const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number == PACKET_MODULE_SYMBOLS || f.number == PACKET_DEOBFUSCATION) return true;
  return false;
}

void write_late_packets(struct perfetto_sink *s) {
  if (s->late.len) out_write(s->out, s->late.data, s->late.len);
  s->late.len = 0;
}

/* Writes the packets unchanged, unless another format embedded them and no track is marked in_packets: then drops events from the
 * packets that the graph also has. */
static void write_fields(struct perfetto_sink *s, const void *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct pb_field packet;
  for (const uint8_t *from = c.p; pb_next(&c, &packet); from = c.p) {
    scan_packet(s, &packet);
    if (s->drops_extensions && has_field(&packet, PACKET_EXTENSION_DESCRIPTOR)) continue;
    if (is_of_earlier(&packet)) buf_append(&s->late, from, (size_t)(c.p - from));
    else if (!s->whole_packets && has_read(&packet)) write_rest(s, &packet);
    else out_write(s->out, from, (size_t)(c.p - from));
  }
}

/* Changes to the packets of a graph before they are written. */
struct passing {
  struct perfetto_sink *s;
  struct cut cut;
  struct move move;
  struct buf frame;
  bool cuts, moves;
};

/* If several graphs are written, gives this graph's machines ids that no other graph uses: ordinal, ordinal + graphs, and so
 * on. */
static void renumber_machines(struct passing *p, const struct tk_trace *t) {
  const struct sink *sink = &p->s->sink;
  struct format_machine machine;
  if (sink->graphs <= 1) return;
  p->move.machine = sink->ordinal;
  for (uint32_t i = 0; perfetto_machine(t, i, &machine); i++)
    map_put(&p->move.machines, machine.id, passthrough_machine_id(p->s, i, machine.id));
}

static void begin_passing(struct passing *p, struct perfetto_sink *s, const struct tk_trace *t) {
  struct clock_readings head;
  *p = (struct passing){.s = s, .frame.mem = &s->mem};
  move_begin(&p->move, t, &s->mem);
  renumber_machines(p, t);
  if (t->edits & TK_EDIT_NAMED) p->move.names = (struct move_names){&s->names, &s->is_named, t};
  if ((t->edits & TK_EDIT_MOVED || s->sink.graphs > 1) && passthrough_readings_of(t, &head)) move_to(&p->move, t, s->zero_ns, s->clock);
  p->move.is_one_of_several = s->sink.graphs > 1;
  p->moves = p->move.is_one_of_several || p->move.moves || p->move.machine || p->move.machines.n || p->move.names.of;
}

static void end_passing(struct passing *p) {
  if (p->cuts) cut_end(&p->cut);
  move_end(&p->move);
  buf_free(&p->frame);
}

static void write_moved(struct passing *p, const void *bytes, size_t n) {
  struct pb c = pb_over(bytes, n);
  struct pb_field packet;
  while (pb_next(&c, &packet)) {
    if (pb_field_key(&packet) != PB_KEY(TRACE_PACKET, PB_BYTES)) continue;
    const struct buf *moved = move_packet(&p->move, &packet);
    if (!moved) {
      sink_lose(&p->s->sink, TK_LOSS_PASSTHROUGH, 1);
      continue;
    }
    p->frame.len = 0;
    pb_message(&p->frame, TRACE_PACKET, moved);
    write_fields(p->s, p->frame.data, p->frame.len);
  }
}

static void pass_fields(struct passing *p, const void *bytes, size_t n) {
  if (p->moves) write_moved(p, bytes, n);
  else write_fields(p->s, bytes, n);
}

static void pass_packets(struct passing *p, const struct tk_trace *t, const struct tk_meta *m) {
  struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
  struct pb_field packet;
  if (!p->cuts) pass_fields(p, c.p, (size_t)m->size);
  while (p->cuts && pb_next(&c, &packet)) {
    const struct buf *left = cut_packet(&p->cut, &packet);
    pass_fields(p, left->data, left->len);
  }
}

/* Counts those packets as lost whose content is not in the graph. */
static void lose_packets(struct perfetto_sink *s, const struct tk_trace *t, const struct tk_meta *m) {
  struct pb c = pb_over(trace_raw(t, m->at), (size_t)m->size);
  struct pb_field packet;
  while (pb_next(&c, &packet))
    if (!passthrough_is_clocks(&packet) && !passthrough_is_read(&packet)) sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, 1);
}

void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t) {
  struct passing p;
  s->whole_packets = was_perfetto(t) || has_tracks_in_packets(t);
  s->has_sched = has_sched(t);
  s->keeps_packets = s->is_valid && !s->opt.no_passthrough;
  s->w.has_packets = s->keeps_packets && has_tracks_in_packets(t);
  if (s->opt.no_passthrough) return;
  begin_passing(&p, s, t);
  p.cuts = s->is_valid && cut_begin(&p.cut, t, &s->mem);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    if (s->is_valid) pass_packets(&p, t, &t->metas[i]);
    else lose_packets(s, t, &t->metas[i]);
  }
  end_passing(&p);
}

void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after) {
  struct passing p;
  if (!s->is_valid) return;
  begin_passing(&p, s, t);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (m->after == after && passthrough_is(t, m, PASSTHROUGH_DESCRIPTORS)) pass_packets(&p, t, m);
  }
  end_passing(&p);
}

/* ---- new names of processes ---- */

static uint32_t machine_in_file(const struct tk_trace *t, tk_id name) {
  struct format_machine machine;
  for (uint32_t i = 0; name && perfetto_machine(t, i, &machine); i++)
    if (machine.name == name) return machine.id;
  return 0;
}

/* Fills `pids` with the original pids of processes whose pids another machine uses as well. */
static void find_original_pids(const struct tk_trace *t, struct map *pids) {
  const struct tk_meta *m = passthrough_find(t, PASSTHROUGH_TRACKS);
  struct pb c = m ? pb_over(trace_raw(t, m->at), (size_t)m->size) : pb_over("", 0);
  struct pb_field entry, f;
  while (pb_next(&c, &entry)) {
    uint64_t track = 0;
    for (struct pb in = pb_inside(&entry); pb_next(&in, &f);) {
      if (f.number == PASSTHROUGH_TRACK) track = f.value;
      if (f.number == PASSTHROUGH_PID) map_put(pids, track, (uint32_t)f.value);
    }
  }
}

static void find_names(struct perfetto_sink *s, const struct tk_trace *t) {
  struct map pids, machines;
  map_init(&pids, &s->mem);
  map_init(&machines, &s->mem);
  find_original_pids(t, &pids);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || !k->renamed || k->pid.kind != TK_IDENT_INT) continue;
    const uint32_t *pid = map_get(&pids, i), *known = map_get(&machines, k->machine);
    const uint32_t machine = known ? *known : machine_in_file(t, k->machine);
    if (!known) map_put(&machines, k->machine, machine);
    map_put(&s->names, move_name_key(machine, pid ? *pid : (uint64_t)k->pid.num), i);
  }
  map_free(&pids);
  map_free(&machines);
}

bool passthrough_lacks_name(const struct perfetto_sink *s, tk_id process) {
  const struct tk_track *k = &s->t->tracks[process];
  if (!(s->t->edits & TK_EDIT_NAMED) || !s->is_valid || !k->renamed || k->pid.kind != TK_IDENT_INT) return false;
  return !map_get(&s->is_named, process);
}

/* ---- which packets are written ---- */

static uint32_t clock_of_packets(const struct tk_trace *t) {
  const struct tk_meta *clock = passthrough_find(t, PASSTHROUGH_CLOCK);
  const uint8_t *end;
  return clock ? (uint32_t)num_scan((const uint8_t *)trace_raw(t, clock->at), &end).mant : CLOCK_BOOTTIME;
}

void passthrough_first(struct perfetto_sink *s, const struct tk_trace *first) {
  if (s->opt.start.known) s->clock = (uint32_t)s->opt.start.of_first;
  else if (!s->opt.no_passthrough) s->clock = clock_of_packets(first);
  s->waits_for_clocks = s->sink.graphs > 1 && passthrough_find(first, PASSTHROUGH_PACKETS);
}

static bool has_packet(const struct tk_trace *t, uint32_t field) {
  struct pb_field packet;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    for (struct pb c = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size); pb_next(&c, &packet);)
      if (has_field(&packet, field)) return true;
  }
  return false;
}

/* True if the packets can be written next to packets of other graphs. If the trace clocks differ, the offsets of other machines'
 * clocks, which are on the old trace clock, would be wrong. */
static bool is_apart(const struct perfetto_sink *s, const struct tk_trace *t) {
  return !passthrough_find(t, PASSTHROUGH_PACKETS) || clock_of_packets(t) == s->clock || !has_packet(t, PACKET_REMOTE_CLOCK_SYNC);
}

void passthrough_next(struct perfetto_sink *s, const struct tk_trace *t) {
  const bool is_only = s->sink.graphs <= 1 && !s->sink.ordinal && s->at_first;
  map_free(&s->names);
  map_free(&s->is_named);
  map_init(&s->names, &s->mem);
  map_init(&s->is_named, &s->mem);
  if (t->edits & TK_EDIT_NAMED) find_names(s, t);
  s->is_valid = passthrough_is_valid(t) && (is_only || (s->sink.graphs > 1 && is_apart(s, t)));
  if (s->sink.graphs <= 1) return;
  s->drops_extensions = !extension_fits(&s->extensions, t);
  sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, s->drops_extensions);
  s->has_clocks = s->has_realtime = s->has_remote_clocks = false;
  map_free(&s->sequences); /* the other graphs are other machines, which have sequences of their own */
  map_init(&s->sequences, &s->mem);
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

void passthrough_tracks_begin(struct perfetto_sink *s) {
  const struct tk_meta *m = s->passthrough_tracks = passthrough_find(s->t, PASSTHROUGH_TRACKS);
  struct pb_field entry, f;
  map_init(&s->passthrough_at, &s->mem);
  if (!m) return;
  struct pb c = pb_over(trace_raw(s->t, m->at), (size_t)m->size);
  for (const uint8_t *start = c.p, *from = c.p; pb_next(&c, &entry); from = c.p) {
    struct pb in = pb_inside(&entry);
    if (pb_next(&in, &f) && f.number == PASSTHROUGH_TRACK) map_put(&s->passthrough_at, f.value, (uint32_t)(from - start));
  }
}

static bool passthrough_entry(const struct perfetto_sink *s, tk_id track, struct pb_field *entry) {
  const uint32_t *at = track ? map_get(&s->passthrough_at, track) : NULL;
  const struct tk_meta *m = s->passthrough_tracks;
  if (!at) return false;
  struct pb c = pb_over(trace_raw(s->t, m->at + *at), (size_t)m->size - *at);
  return pb_next(&c, entry);
}

static bool has_moved(const struct perfetto_sink *s) { return s->sink.graphs > 1 || s->t->edits & (TK_EDIT_MOVED | TK_EDIT_STRETCHED); }

/* Appends the fields of a process whose events moved, and moves the time of its start by the same amount. If this amount is unknown,
 * because another format stored the trace in between, the time is lost. */
static void put_moved_process(struct perfetto_sink *s, const struct pb_field *fields, struct buf *to) {
  struct pb in = pb_inside(fields);
  struct pb_field f;
  struct clock_readings head;
  struct passing p;
  if (!passthrough_readings_of(s->t, &head)) {
    sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, passthrough_without_times(fields, to));
    return;
  }
  begin_passing(&p, s, s->t);
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (f.number == PROCESS_START && f.wire == PB_VARINT) pb_u64(to, PROCESS_START, move_time(&p.move, CLOCK_BOOTTIME, f.value));
    else buf_append(to, from, (size_t)(in.p - from));
  }
  end_passing(&p);
}

void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to) {
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return;
  const uint32_t wanted = PB_KEY(inner ? PASSTHROUGH_INNER_FIELDS : PASSTHROUGH_FIELDS, PB_BYTES);
  const bool is_process = inner && s->t->tracks[track].kind == TK_TRACK_PROCESS;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);) {
    if (pb_field_key(&f) != wanted) continue;
    if (is_process && has_moved(s)) put_moved_process(s, &f, to);
    else buf_append(to, f.p, (size_t)f.value);
  }
}

/* Returns the id of a counter's parent; 0 if the track of this id cannot be its parent, as in a damaged block. */
static tk_id parent_at(const struct perfetto_sink *s, tk_id track, uint64_t id) {
  const struct tk_trace *t = s->t;
  const bool fits = id && id <= t->n_tracks && track_is_named(&t->tracks[id]) && t->tracks[id].parent == t->tracks[track].parent;
  return fits ? (tk_id)id : 0;
}

/* Returns the place of the track in the input file; without uuids if the packets and descriptors of the input are not written. */
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track) {
  struct kept_track k = {.has_uuid = false};
  struct pb_field entry, f;
  if (!passthrough_entry(s, track, &entry)) return k;
  for (struct pb in = pb_inside(&entry); pb_next(&in, &f);) {
    if (f.number == PASSTHROUGH_PARENT_TRACK) k.parent_track = parent_at(s, track, f.value);
    if (f.number == PASSTHROUGH_LEGACY) k.is_legacy = f.value != 0;
    if (!s->is_valid) continue;
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
