/* write.c - writes Perfetto's TrackEvent protobuf from one or several graphs.
 *
 *     ClockSnapshot                                 times in the file are BOOTTIME; REALTIME provides the date
 *     per graph: TrackDescriptors                   processes, threads, lanes, counters, before they are used
 *                per track: defaults, TrackEvents   one sequence; parents before children, ends before later events
 *
 * The measure of correctness is trace_processor; comments mention the rules of trace_processor that matter.
 *
 * Args are debug annotations. The alternative, fields of an extension of TrackEvent that the file describes, was measured on
 * synthetic Kineto (gen kineto --spans 1000000, 407 MB of JSON, 5.6 M rows of args) with trace_processor v52, two rounds on a
 * shared machine:
 *
 *                                      file MB      import s      peak MiB
 *     JSON                                407      6.6   12.5      827  813
 *     debug annotations                  93.5      7.1    8.0      623  624
 *     extension, numbers only            80.7      6.4    7.5      632  632
 *     extension, strings as well         80.7     11.5   17.5      629  609
 *
 * Numbers in an extension save a tenth of the time and no memory. Strings in an extension take at least half as much time
 * again, because they cannot be interned. With a mixture, an event's args would have two prefixes ("args." and "debug."), which
 * the saving does not justify. So args are annotations.
 *
 * Size. The same trace, gzipped, in MB. The remainder is 6 M literals and 5.6 M matches, most of them times and ids:
 *
 *                               gzip -1   zlib 3   zlib 5   gzip -6   ISA-L   zstd 3
 *     JSON                         48.9                        36.2    40.0     33.5
 *     .pftrace                     21.7     20.6     19.2      18.9    22.5     16.7
 *
 * A file with a fifth of JSON's bytes can be deflated longer: zlib 5, the default for .pftrace.gz, takes 1.3 s of CPU here
 * instead of 0.2 s with ISA-L and saves a seventh; zlib 6 takes twice that for 2%. Tried and rejected: decimals as JSON text
 * (+0.2%), times padded to a fixed length (-1% with zlib 6, +1% with zlib 1), ids of names by frequency (-0.3%), absolute times
 * (+18%).
 *
 * compressed_packets (zlib 5) with the same packets instead of gzip around them: 19.2 MB in blocks of 1 MB, 19.9 MB in blocks
 * of 64 KB, compared with 19.2 MB; import takes 7.5 s of CPU compared with 7.7 s, and 7.6 s for the plain file; peak memory is
 * 690 MiB compared with 661 and 638 MiB. They do not help a reader that must examine every packet, so they are not written.
 *
 * Import. Without args, trace_processor v52 spends as much time on two packets with only type, name, category and time as on
 * one JSON event: 2.8 s of CPU beyond an empty trace for 1.1 M spans written as compactly as the format allows, 2.6 s for their
 * JSON (3.3 s for our output, with 0.2 M flows). Absolute times, no flags, and one track instead of forty change that by less
 * than 5%. */
#include <stdio.h>
#include <string.h>

#include "write.h"
#include "format/perfetto/perfetto.h"
#include "format/carry.h"
#include "graph/stack.h"
#include "writer.h"
#include "records.h"
#include "plain.h"
#include "passthrough.h"
#include "cut.h"
#include "machine.h"
#include "lanes.h"
#include "nest.h"
#include "segments.h"
#include "flows.h"
#include "flow_points.h"
#include "event.h"
#include "extension.h"
#include "descriptors.h"
#include "counters.h"
#include "asyncs.h"
#include "samples.h"
#include "companions.h"
#include "gpu.h"

enum { FIRST_MADE_ID = 20000000 };

/* ---- threads ---- */

/* Writes events first .. end-1 of a track on a lane, where events at `depth` are outermost. Skips events that need another
 * lane, and all events nested in them. `root`: the event for which the lane was created. */
static void write_nested(struct perfetto_sink *s, tk_id first, tk_id end, uint32_t depth, tk_id root) {
  struct nest n = {.w = &s->w, .stack = &s->stack, .depth = depth, .root = root, .skip_below = UINT32_MAX};
  for (tk_id i = first; i < end; i++)
    if (nest_event(&n, i) == NEST_DEEP) writer_add_deep(s, i);
  lanes_close_slices(&s->w, &s->stack, 0);
}

/* Returns the end of the range of events nested in event i. */
static tk_id subtree_end(const struct tk_trace *t, const struct tk_track *k, tk_id i) {
  tk_id end = i + 1;
  while (end < k->first + k->count && t->events[end].depth > t->events[i].depth) end++;
  return end;
}

static void write_aside(struct perfetto_sink *s, tk_id track, struct heap *lanes, tk_id id) {
  const struct tk_track *k = &s->t->tracks[track];
  segments_flush(s);
  const struct tk_event *e = &s->t->events[id];
  uint64_t uuid = lanes_take(lanes, e->ts, e->ts + e->dur);
  size_t n;
  if (!uuid) {
    const char *name = tk_string(s->t, k->name, &n);
    struct child c = {.parent = s->uuids[track], .name = n ? name : "overlapping", .n = n ? n : 11, .form = FORM_LANE};
    c.form |= s->w.track_is_mixed ? FORM_MIXED : e->flags & TK_FLAG_PAIRED ? 0 : FORM_COMPLETE;
    uuid = descriptor_child(s, &c);
    lanes_add(lanes, uuid, e->ts + e->dur);
  }
  writer_track(&s->w, uuid);
  write_nested(s, id, subtree_end(s->t, k, id), e->depth, id);
}

static void write_thread(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct heap lanes = {.mem = &s->mem};
  if (k->count == 0) return;
  const bool is_queue = gpu_takes(s, track), is_cut = !is_queue && segments_takes(s, track);
  if (!is_cut) segments_flush(s);
  if (!is_queue && !track_is_named(k)) companions_of(s, track);
  s->n_deep = 0;
  s->w.track_is_mixed = descriptor_form_of_spans(s->t, k) == FORM_MIXED;
  s->w.track_has_scope = track_is_named(k) && k->tid.num % NAMED_CODES == NAMED_IS_PROCESS;
  if (is_cut) {
    segments_write(s, track);
  } else {
    writer_track(&s->w, s->uuids[track]);
    if (is_queue) gpu_write(s, track);
    else write_nested(s, k->first, k->first + k->count, 0, 0);
  }
  for (tk_id i = k->first; !is_queue && i < k->first + k->count; i++)
    if (s->t->events[i].flags & NEST_ASIDE) write_aside(s, track, &lanes, i);
  for (uint32_t i = 0; i < s->n_deep; i++) write_aside(s, track, &lanes, s->deep[i]);
  s->w.track_is_mixed = s->w.track_has_scope = false;
  memset(s->w.companions, 0, sizeof s->w.companions);
  heap_free(&lanes);
}

/* ---- tracks without a stack ---- */

/* Writes the instants of a process, and global instants (JSON's scope "g"). */
static void write_instants(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct tk_arg scope;
  uint64_t globals = 0;
  s->w.track_has_scope = true;
  s->w.own_tid = s->own_tids[track];
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    if (s->t->events[i].kind == TK_EVENT_SAMPLE) continue;
    bool global = tk_args_find(s->t, s->t->events[i].args, "json.s", &scope) && strcmp(tk_string(s->t, scope.s, NULL), "g") == 0;
    if (global && !globals) {
      struct child c = {.name = "instants", .n = 8, .form = FORM_GLOBAL, .process = s->uuids[track]};
      globals = descriptor_child(s, &c);
    }
    writer_track(&s->w, global ? globals : s->uuids[track]);
    event_instant(&s->w, i);
  }
  s->w.own_tid = 0;
  s->w.track_has_scope = false;
}

/* ---- the sink ---- */

/* Returns how many ns to add to all times, because negative times would be dropped. The earliest event counts even if it has no clock,
 * because it is written with a time. For a graph without events, which may be part of a merge, the origin counts. */
static int64_t shift_of(const struct tk_trace *t) {
  static const struct trace_cut ALL = {INT64_MIN, INT64_MAX};
  const struct trace_cut *cut = trace_cut_of(t);
  struct trace_cut packets;
  tk_time first = 0;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (i == 1 || t->events[i].ts < first) first = t->events[i].ts;
  const bool has_packets = t->edits & TK_EDIT_MOVED && passthrough_is_valid(t) && cut_times(t, cut ? *cut : ALL, &packets);
  if (has_packets && (packets.start < first || !t->n_events)) first = packets.start;
  int64_t ns = t->origin_ns - t->zero_ns + num_ns(first);
  return (t->n_events || has_packets || t->origin_ns) && ns < 0 ? -ns : 0;
}

static void write_later(struct perfetto_sink *s, int64_t later) {
  if (!later) return;
  s->inner.len = s->packet.len = 0;
  pb_u64(&s->inner, TRACEKIT_LATER, (uint64_t)later);
  pb_message(&s->packet, PACKET_TRACEKIT, &s->inner);
  writer_packet(s->out, &s->packet);
}

static void write_part(struct perfetto_sink *s, const struct tk_trace *t) {
  s->inner.len = s->private_fields.len = s->packet.len = 0;
  if (s->sink.graphs <= 1 && !s->opt.no_passthrough) cut_put_part(t, &s->inner);
  s->w.is_part = s->inner.len != 0;
  if (!s->w.is_part) return;
  pb_message(&s->private_fields, TRACEKIT_PART, &s->inner);
  pb_message(&s->packet, PACKET_TRACEKIT, &s->private_fields);
  writer_packet(s->out, &s->packet);
}

static bool perfetto_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  const int64_t shift = shift_of(first), kept = cut_later(first), later = shift > kept ? shift : kept;
  s->zero_ns = first->zero_ns - later;
  write_part(s, first);
  descriptor_trace(s, first);
  write_later(s, later);
  return carry_open(s->opt.carry, first, err);
}

static void write_track(struct perfetto_sink *s, tk_id track) {
  if (s->t->tracks[track].kind != TK_TRACK_THREAD) segments_flush(s);
  switch (s->t->tracks[track].kind) {
  case TK_TRACK_THREAD: write_thread(s, track); return;
  case TK_TRACK_PROCESS: write_instants(s, track); return;
  case TK_TRACK_COUNTERS: counters_write(s, track); return;
  case TK_TRACK_ASYNCS: asyncs_write(s, track); return;
  default: return;
  }
}

static bool write_tracks(struct perfetto_sink *s, struct tk_err *err) {
  struct tk_progress p = s->opt.progress;
  uint64_t done = 0;
  for (unsigned place = 0; place <= 4; place++) {
    for (tk_id i = 1; i <= s->t->n_tracks; i++) {
      const struct tk_track *k = &s->t->tracks[i];
      if (writer_place_of(k) != place) continue;
      if (!descriptor_track_hidden(s, i) && k->count) {
        machine_of_writer(s, i);
        write_track(s, i);
        perfetto_samples_write(s, i);
      }
      done += k->count;
      if (p.tick && !p.tick(p.arg, done, s->t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
    }
  }
  segments_flush(s);
  return true;
}

/* If several graphs are written, reserves ids for this graph that do not depend on how many ids the other graphs need. */
static void begin_ids(struct perfetto_sink *s) {
  const uint32_t ordinal = s->sink.ordinal;
  if (s->sink.graphs > 1) {
    s->step = s->sink.graphs;
    s->next_sequence = 1 + ordinal;
    s->next_machine = ordinal;
    s->next_flow = 1 + ordinal;
    s->last_stage = 1 + (uint64_t)ordinal - s->step;
    s->last_counter = 1 + ordinal - s->step;
    s->next_pid = FIRST_MADE_ID + (int32_t)ordinal;
    s->last_uuid = 1 + (uint64_t)ordinal - s->step; /* the first uuid is one step larger */
  }
  s->w.step = s->step;
  s->w.first_flow = 0;
}

/* If the trace is a part of another one, moves its new uuids and ids of flows to a range that depends on where the part starts. The
 * parts can then be concatenated: otherwise different tracks of two parts would have equal uuids. */
static void move_ids_of_part(struct perfetto_sink *s) {
  const struct trace_cut *cut = trace_cut_of(s->t);
  if (!cut) return;
  uint64_t base = hash_mix((uint64_t)trace_ns(s->t, 0, cut->start), 0) >> 36 << 20;
  base -= base % s->step;
  s->last_uuid += base;
  s->w.first_flow = base;
}

static void begin_tables(struct perfetto_sink *s) {
  map_init(&s->named, &s->mem);
  map_init(&s->threads, &s->mem);
  map_init(&s->series, &s->mem);
  map_init(&s->lone_counters, &s->mem);
  map_init(&s->part_uuids, &s->mem);
  map_init(&s->thread_counters, &s->mem);
  s->n_counter_uuids = 0;
}

static bool graph_begin(struct perfetto_sink *s, const struct tk_trace *t) {
  size_t n = (size_t)t->n_tracks + 1;
  s->t = t;
  begin_ids(s);
  move_ids_of_part(s);
  s->w.sequence = passthrough_sequence(s);
  s->w.clock = s->clock;
  s->w.n_packets = 0;
  s->w.meter = s->opt.meter.add ? &s->opt.meter : NULL;
  begin_tables(s);
  passthrough_tracks_begin(s);
  s->uuids = mem_array(&s->mem, n, sizeof *s->uuids);
  s->pids = mem_array(&s->mem, n, sizeof *s->pids);
  s->own_tids = mem_zeros(&s->mem, n, sizeof *s->own_tids);
  s->tids = mem_zeros(&s->mem, n, sizeof *s->tids);
  s->w.sequences = &s->sequences;
  s->w.next_sequence = &s->next_sequence;
  if (!machine_write_all(s) || !s->uuids || !s->pids || !s->own_tids || !s->tids) return false;
  if (!writer_begin(&s->w, t, num_sub(t->origin_ns, s->zero_ns), s->out, &s->mem)) return false;
  if (s->drops_extensions) extension_none(&s->w.extensions, &s->mem);
  event_find_keys(&s->w);
  if (s->opt.gpu_events && !gpu_begin(s)) return false;
  plain_interned_begin(&s->w);
  return true;
}

static void graph_end(struct perfetto_sink *s) {
  segments_end(s);
  writer_end(&s->w);
  gpu_end(s);
  map_free(&s->named);
  map_free(&s->threads);
  map_free(&s->series);
  map_free(&s->lone_counters);
  map_free(&s->part_uuids);
  companions_end(s);
  map_free(&s->passthrough_at);
  map_free(&s->machine_of);
  mem_free(&s->mem, s->uuids);
  mem_free(&s->mem, s->counter_uuids);
  s->counter_uuids = NULL;
  s->cap_counter_uuids = 0;
  mem_free(&s->mem, s->pids);
  mem_free(&s->mem, s->own_tids);
  mem_free(&s->mem, s->tids);
}

/* Writes flow points that do not belong to an event. Returns the number of points whose track is not written. */
static uint64_t write_lone_points(struct perfetto_sink *s) {
  const struct tk_trace *t = s->t;
  uint64_t lost = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (f->bound) continue;
    lost += !s->uuids[f->at];
    if (!s->uuids[f->at]) continue;
    machine_of_writer(s, f->at);
    flow_points_lone(&s->w, s->uuids[f->at], i);
  }
  return lost;
}

/* True if all times of a trace with this origin fit into 64-bit nanoseconds. A damaged input can state any origin. */
static bool has_room(int64_t base_ns) {
  const int64_t most = INT64_MAX - INT64_MAX / 1000 - 1;
  return base_ns <= most && base_ns >= -most;
}

static bool perfetto_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  struct tk_saved *saved = &sink->saved;
  if (t->n_events && !has_room(num_sub(t->origin_ns, s->zero_ns)))
    return err_set(err, TK_ELIMIT, "%s: its times are outside the range that Perfetto can represent (1677 to 2262)", t->source);
  if (!stack_fits_lists(t, false, err)) return false;
  sink_limit(&s->mem, t);
  if (sink->graphs > 1) out_break(s->out);
  if (!s->at_first || sink->ordinal || sink->graphs > 1) descriptor_graph(s, t);
  s->at_first = false;
  bool ok = graph_begin(s, t);
  if (ok) {
    uint64_t lost = flows_write_ends(&s->w, &s->next_flow);
    descriptor_tracks(s);
    companions_begin(s);
    ok = write_tracks(s, err);
    if (ok) lost += write_lone_points(s);
    if (ok) records_write(s);
    if (ok) write_late_packets(s);
    if (ok && sink->graphs > 1) write_descriptors(s, t, true);
    saved->events += t->n_events;
    saved->records += s->w.n_packets;
    saved->flow_points += t->n_flow_points - lost;
    sink_lose(sink, TK_LOSS_DANGLING, lost);
    sink_lose(sink, TK_LOSS_ARGS, s->w.n_lost_fields);
  }
  graph_end(s);
  if (!ok || s->mem.failed) return mem_refuse(&s->mem, err);
  if (!carry_write(s->opt.carry, sink, t, err)) return false;
  write_blocks(s); /* written now, so that the data of many ranks need not be in memory */
  if (sink->graphs > 1) out_break(s->out);
  return true;
}

/* Writes a packet if the trace is empty, because an empty file looks like a failed copy. */
static void write_empty(struct perfetto_sink *s) {
  s->packet.len = 0;
  pb_u64(&s->packet, PACKET_SEQUENCE_ID, 1);
  pb_u64(&s->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  writer_packet(s->out, &s->packet);
}

/* Writes the provenance, which viewers from v58 on display as metadata. */
static bool perfetto_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  if (!carry_close(s->opt.carry, first, &sink->saved, err)) return false;
  write_blocks(s);
  descriptor_metas(s, first);
  if (provenance) write_attribute(s, "tracekit", provenance, strlen(provenance));
  if (out_raw_bytes(s->out) == 0) write_empty(s);
  return mem_check(&s->mem, err);
}

static bool perfetto_take(struct sink *sink, const struct sink_piece *part, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  if (part->n_state) return err_set(err, TK_EFORMAT, "the part was written by another version of tracekit");
  s->at_first = false;
  out_break(s->out);
  return true;
}

static void perfetto_free(struct sink *sink) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  struct mem mem = {0};
  map_free(&s->sequences);
  schema_free(&s->extensions);
  map_free(&s->machine_ids);
  map_free(&s->names);
  map_free(&s->is_named);
  mem_free(&s->mem, s->machines);
  buf_free(&s->packet);
  buf_free(&s->inner);
  buf_free(&s->text);
  buf_free(&s->late);
  buf_free(&s->private_fields);
  mem_free(&s->mem, s->stack.v);
  mem_free(&s->mem, s->deep);
  mem_free(&s->mem, s->args);
  mem_free(&mem, s);
}

struct sink *perfetto_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct perfetto_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct perfetto_sink){.out = out, .opt = *opt, .next_sequence = 1, .step = 1, .clock = CLOCK_BOOTTIME,
                              .next_flow = 1, .next_pid = FIRST_MADE_ID};
  s->packet.mem = s->inner.mem = s->text.mem = s->private_fields.mem = s->late.mem = &s->mem;
  map_init(&s->sequences, &s->mem);
  map_init(&s->machine_ids, &s->mem);
  schema_init(&s->extensions, &s->mem);
  map_init(&s->names, &s->mem);
  map_init(&s->is_named, &s->mem);
  s->sink.open = perfetto_open;
  s->sink.write = perfetto_write;
  s->sink.close = perfetto_close;
  s->sink.free = perfetto_free;
  s->sink.leave = sink_leave_nothing; /* the end of the file does not depend on earlier graphs */
  s->sink.take = perfetto_take;
  return &s->sink;
}

