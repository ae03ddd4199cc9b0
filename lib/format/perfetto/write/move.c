/* move.c - moves packets to another time, another trace clock and another machine, and renames processes.
 *
 * Moves the timestamps of packets, the times inside their contents (table below), and the readings of the trace clock in snapshots.
 * Times on other clocks are not changed, because snapshots relate those clocks to the moved trace clock. REALTIME is the exception. It
 * moves by its own amount, which is 0 if only the zero of the file changes.
 *
 * If an operation corrected times by varying amounts (warp), a snapshot relates another clock to the trace clock only at its own
 * moment. Timestamps of packets on other clocks are therefore converted to the trace clock. Durations inside of contents stay.
 *
 * If the trace clock of the output differs from that of the input, snapshots relate the input's trace clock, whose readings stay, to
 * the new one. Earlier readings of the new trace clock, and times on it, are replaced by moved times on the old one.
 *
 * Names of processes are replaced in the descriptors of tracks and in process trees, where a name is the first part of the command
 * line, because importers prefer that name to the one in a descriptor.
 *
 * A time that would be negative becomes 0. If a reading of a clock snapshot would be negative, all readings of that snapshot are
 * increased by the same amount, so that they describe a later moment. */
#include "move.h"

#include <string.h>

#include "format/pb_out.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"

enum { US = 1000, MS = 1000000, CLOCK_OF_TRACE = 0, CLOCK_MONOTONIC_COARSE = 4 };
#define CLOCK_OF_ITS_OWN UINT32_MAX

/* A time inside the content of a packet: a field, or a field of a repeated message in it. */
struct moved_field {
  uint32_t packet, field, inner; /* inner: 0 = the field itself is the time */
  uint32_t clock, unit;          /* unit: ns per unit */
};

/* Sources: protos/perfetto/trace/, and trace_processor's importers for the clocks. Contents with packed deltas are handled below. */
static const struct moved_field FIELDS[] = {
    {PACKET_PROCESS_TREE, 1, 7, CLOCK_BOOTTIME, 1},           /* ps/process_tree.proto: processes, process_start_from_boot */
    {PACKET_PROCESS_TREE, 3, 0, CLOCK_BOOTTIME, 1},           /* collection_end_timestamp */
    {PACKET_SYS_STATS, STATS_END_TIME, 0, CLOCK_BOOTTIME, 1}, /* sys_stats.proto: collection_end_timestamp */
    {9, 2, 0, CLOCK_BOOTTIME, 1},                             /* ps/process_stats.proto: collection_end_timestamp */
    {37, 5, 9, CLOCK_MONOTONIC_COARSE, 1},                    /* profiling/profile_packet.proto: process_dumps, timestamp */
    {37, 15, 0, CLOCK_MONOTONIC_COARSE, 1},                   /* start_timestamp */
    {39, 1, 5, CLOCK_REALTIME, 1},                            /* android/android_log.proto: events, timestamp */
    {40, 2, 2, CLOCK_OF_TRACE, MS},                           /* power/power_rails.proto: energy_data, timestamp_ms */
    {PACKET_TRACK_DESCRIPTOR, 3, 7, CLOCK_BOOTTIME, 1},       /* track_event/process_descriptor.proto: start_timestamp_ns */
    {62, 3, 0, CLOCK_BOOTTIME, 1},                            /* gpu/vulkan_memory_event.proto: timestamp */
    {78, 1, 0, CLOCK_BOOTTIME, 1},                            /* ui_state.proto: timeline_start_ts, timeline_end_ts */
    {78, 2, 0, CLOCK_BOOTTIME, 1},
    {84, 2, 0, CLOCK_BOOTTIME, 1},                            /* statsd/statsd_atom.proto: timestamp_nanos */
    {90, 1, 0, CLOCK_OF_TRACE, US},                           /* track_event/range_of_interest.proto: start_us */
    {91, 2, 5, CLOCK_BOOTTIME, MS},                           /* power/android_entity_state_residency.proto: last_entry_timestamp_ms */
    {93, 1, 0, CLOCK_BOOTTIME, 1},                            /* surfaceflinger_layers.proto: elapsed_realtime_nanos */
    {94, 1, 0, CLOCK_BOOTTIME, 1},                            /* surfaceflinger_transactions.proto: elapsed_realtime_nanos */
    {95, 2, 1, CLOCK_BOOTTIME, 1},                            /* etw/etw_event_bundle.proto: event, timestamp */
    {PACKET_SHELL_TRANSITION, 2, 0, CLOCK_BOOTTIME, 1},       /* android/shell_transition.proto: create_time_ns to finish_time_ns */
    {PACKET_SHELL_TRANSITION, 3, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 4, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 5, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 6, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 7, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 8, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 9, 0, CLOCK_BOOTTIME, 1},
    {PACKET_SHELL_TRANSITION, 17, 0, CLOCK_BOOTTIME, 1},      /* starting_window_remove_time_ns */
};

/* ---- numbers ---- */

static uint64_t moved_time(uint64_t time, int64_t by) {
  if (by < 0 && time < 0 - (uint64_t)by) return 0;
  return time + (uint64_t)by;
}

/* Converts a time of the input to a time of the output, both on the given axis. */
static int64_t along(const struct move *m, struct move_axis axis, int64_t time) {
  const int64_t since = num_sub(time, axis.from_ns);
  return num_add(axis.to_ns, m->warp ? warp_ns(m->warp, since) : since);
}

/* Returns how far a time on this clock of the packet's machine moves, in ns. */
static int64_t distance(const struct move *m, uint32_t clock, uint64_t time) {
  const bool is_new = m->out_clock != m->trace_clock, is_trace = clock == CLOCK_OF_TRACE || (clock == m->trace_clock && !is_new);
  int64_t ns = (int64_t)time;
  if (time > INT64_MAX) return 0;
  if (clock == CLOCK_REALTIME) return num_sub(along(m, m->real, ns), ns);
  if (!is_trace && !(is_new && clock == m->out_clock)) return 0;
  if (!readings_to_trace(&m->readings, m->from_machine, clock, time, &ns) && !is_trace) return 0;
  return num_sub(along(m, m->trace, ns), is_trace ? ns : (int64_t)time);
}

uint64_t move_time(const struct move *m, uint32_t clock, uint64_t ns) { return moved_time(ns, distance(m, clock, ns)); }

/* Returns how far a time moves; both are in units of `unit` ns. */
static int64_t distance_in_units(const struct move *m, uint32_t clock, uint64_t time, uint32_t unit) {
  if (unit == 1) return distance(m, clock, time);
  if (time > INT64_MAX / unit) return 0;
  const int64_t by = distance(m, clock, time * unit), rest = by % (int64_t)unit * 2;
  return by / (int64_t)unit + (rest >= (int64_t)unit) - (rest <= -(int64_t)unit);
}

/* A clock, and the unit, in ns, of the times on it. */
struct time_unit {
  uint32_t clock, ns;
};

static uint64_t moved_in_units(const struct move *m, struct time_unit u, uint64_t time) {
  return moved_time(time, distance_in_units(m, u.clock, time, u.ns));
}

static void put_varint(struct buf *b, uint64_t value) {
  uint8_t *p = buf_reserve(b, 16);
  if (p) b->len = (size_t)(varint_put(p, value) - b->data);
}

/* Appends a field with a time, or with packed times. */
static void put_time(struct move *m, struct buf *b, const struct pb_field *f, struct time_unit u) {
  uint64_t time;
  if (f->wire == PB_VARINT) {
    pb_u64(b, f->number, moved_in_units(m, u, f->value));
    return;
  }
  if (f->wire == PB_FIXED64) {
    pb_fixed64(b, f->number, moved_in_units(m, u, f->value));
    return;
  }
  m->item.len = 0;
  for (struct pb in = pb_inside(f); in.p < in.end && pb_varint(&in, &time);) put_varint(&m->item, moved_in_units(m, u, time));
  pb_message(b, f->number, &m->item);
}

/* ---- packed deltas ---- */

/* Appends packed deltas, the first of which is an absolute time. */
static void put_deltas(struct move *m, struct buf *b, const struct pb_field *f, uint32_t clock) {
  struct pb in = pb_inside(f);
  uint64_t delta, time = 0, last = 0;
  m->item.len = 0;
  for (bool first = true; (first || m->warp) && in.p < in.end && pb_varint(&in, &delta); first = false) {
    time += delta;
    const uint64_t moved = moved_time(time, distance(m, clock, time));
    put_varint(&m->item, moved - last);
    last = moved;
  }
  buf_append(&m->item, in.p, (size_t)(in.end - in.p));
  pb_message(b, f->number, &m->item);
}

/* Appends the content of a modem packet with its event times moved (android/pixel_modem_events.proto: event_time_nanos). */
static void put_modem(struct move *m, const struct pb_field *content) {
  enum { EVENT_TIMES = 2 };
  struct pb in = pb_inside(content);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) == PB_KEY(EVENT_TIMES, PB_BYTES)) put_deltas(m, &m->content, &f, CLOCK_BOOTTIME);
    else buf_append(&m->content, from, (size_t)(in.p - from));
  }
}

/* ---- ftrace ---- */

static void put_compact(struct move *m, const struct pb_field *f, uint32_t clock) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &g); from = in.p) {
    const bool is_time = (g.number == COMPACT_SWITCH_TIME || g.number == COMPACT_WAKING_TIME) && g.wire == PB_BYTES;
    if (is_time) put_deltas(m, &m->inner, &g, clock);
    else buf_append(&m->inner, from, (size_t)(in.p - from));
  }
  pb_message(&m->content, f->number, &m->inner);
}

/* Appends a message whose field `time` is moved. */
static void put_inner(struct move *m, const struct pb_field *f, uint32_t time, struct time_unit u) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &g); from = in.p) {
    if (g.number == time && g.wire != PB_FIXED32) put_time(m, &m->inner, &g, u);
    else buf_append(&m->inner, from, (size_t)(in.p - from));
  }
  pb_message(&m->content, f->number, &m->inner);
}

/* Returns the clock of a bundle's events; CLOCK_OF_ITS_OWN = only the bundle's own pair of times relates it to the trace clock. */
static uint32_t ftrace_clock(const struct pb_field *bundle) {
  struct pb in = pb_inside(bundle);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(FTRACE_CLOCK, PB_VARINT) || f.value == 0) continue;
    return f.value == FTRACE_CLOCK_RAW ? CLOCK_MONOTONIC_RAW : CLOCK_OF_ITS_OWN;
  }
  return CLOCK_BOOTTIME;
}

static void put_ftrace(struct move *m, const struct pb_field *bundle) {
  const struct time_unit own = {ftrace_clock(bundle), 1}, boot = {CLOCK_BOOTTIME, 1};
  struct pb in = pb_inside(bundle);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    switch (pb_field_key(&f)) {
    case PB_KEY(FTRACE_EVENT, PB_BYTES):
    case PB_KEY(FTRACE_ERROR, PB_BYTES): put_inner(m, &f, FTRACE_EVENT_TIME, own); break;
    case PB_KEY(FTRACE_COMPACT, PB_BYTES): put_compact(m, &f, own.clock); break;
    case PB_KEY(FTRACE_BOOT_TIME, PB_VARINT): put_time(m, &m->content, &f, boot); break;
    case PB_KEY(FTRACE_LAST_READ, PB_VARINT):
    case PB_KEY(FTRACE_PREVIOUS_END, PB_VARINT): put_time(m, &m->content, &f, own); break;
    default: buf_append(&m->content, from, (size_t)(in.p - from));
    }
  }
}

/* ---- clocks ---- */

struct reading {
  uint64_t id, time, unit;
};

static struct reading read_clock(const struct pb_field *clock) {
  struct reading r = {.unit = 1};
  struct pb in = pb_inside(clock);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) == PB_KEY(CLOCK_ID, PB_VARINT)) r.id = f.value;
    if (pb_field_key(&f) == PB_KEY(CLOCK_TIMESTAMP, PB_VARINT)) r.time = f.value;
    if (pb_field_key(&f) == PB_KEY(CLOCK_UNIT_NS, PB_VARINT) && f.value && f.value < INT32_MAX) r.unit = f.value;
  }
  return r;
}

/* Returns the time of the snapshot on the trace clock of its machine. Returns false if it has none. */
static bool trace_time_of(const struct move *m, const struct pb_field *snapshot, uint64_t *time) {
  struct pb in = pb_inside(snapshot);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) continue;
    const struct reading r = read_clock(&f);
    *time = r.time;
    if (r.id == m->trace_clock) return true;
  }
  return false;
}

/* Returns how far a reading moves. A reading of the new trace clock becomes the moved time of the old trace clock. */
static int64_t distance_of_reading(const struct move *m, const struct pb_field *snapshot, struct reading r) {
  const bool is_new = m->out_clock != m->trace_clock && r.id == m->out_clock;
  uint64_t time;
  if (!is_new || !trace_time_of(m, snapshot, &time)) return distance(m, (uint32_t)r.id, r.time);
  return num_sub(num_add((int64_t)time, distance(m, CLOCK_OF_TRACE, time)), (int64_t)r.time);
}

/* Returns how many ns to add to all readings of the snapshot so that none is negative after the move. */
static uint64_t wait_of(const struct move *m, const struct pb_field *snapshot) {
  struct pb in = pb_inside(snapshot);
  struct pb_field f;
  uint64_t wait = 0;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) continue;
    const struct reading r = read_clock(&f);
    const int64_t by = distance_of_reading(m, snapshot, r);
    const uint64_t back = 0 - (uint64_t)by;
    if (by < 0 && r.time < back && back - r.time > wait) wait = back - r.time;
  }
  return wait;
}

static void put_reading(struct move *m, struct buf *b, const struct pb_field *clock, uint64_t by) {
  struct pb in = pb_inside(clock);
  struct pb_field f;
  m->item.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) == PB_KEY(CLOCK_TIMESTAMP, PB_VARINT)) pb_u64(&m->item, CLOCK_TIMESTAMP, f.value + by);
    else buf_append(&m->item, from, (size_t)(in.p - from));
  }
  pb_message(b, SNAPSHOT_CLOCKS, &m->item);
}

/* Appends a reading of the output's trace clock, which the snapshot did not have. */
static void put_new_reading(struct move *m, struct buf *b, const struct pb_field *snapshot, uint64_t wait) {
  uint64_t time;
  if (!trace_time_of(m, snapshot, &time)) return;
  m->item.len = 0;
  pb_u64(&m->item, CLOCK_ID, m->out_clock);
  pb_u64(&m->item, CLOCK_TIMESTAMP, time + (uint64_t)distance(m, CLOCK_OF_TRACE, time) + wait);
  pb_message(b, SNAPSHOT_CLOCKS, &m->item);
}

static void put_snapshot(struct move *m, struct buf *b, const struct pb_field *snapshot, uint64_t wait) {
  const bool is_new = m->out_clock != m->trace_clock;
  struct pb in = pb_inside(snapshot);
  struct pb_field f;
  bool has_new = false;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (f.number == SNAPSHOT_PRIMARY_CLOCK && is_new) continue;
    if (pb_field_key(&f) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) {
      buf_append(b, from, (size_t)(in.p - from));
      continue;
    }
    const struct reading r = read_clock(&f);
    has_new = has_new || r.id == m->out_clock;
    put_reading(m, b, &f, (uint64_t)distance_of_reading(m, snapshot, r) + wait / r.unit);
  }
  if (!is_new) return;
  if (!has_new) put_new_reading(m, b, snapshot, wait);
  pb_u64(b, SNAPSHOT_PRIMARY_CLOCK, m->out_clock);
}

/* Moves a pair of snapshots (one of the client, one of the host) in a RemoteClockSync. */
static void put_pair(struct move *m, const struct pb_field *pair, uint64_t wait) {
  const uint32_t client = m->from_machine;
  struct pb in = pb_inside(pair);
  struct pb_field f;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_host = f.number == SYNCED_HOST;
    if (f.wire != PB_BYTES || (!is_host && f.number != SYNCED_CLIENT)) {
      buf_append(&m->inner, from, (size_t)(in.p - from));
      continue;
    }
    m->from_machine = is_host ? 0 : client;
    m->side.len = 0;
    put_snapshot(m, &m->side, &f, wait);
    pb_message(&m->inner, f.number, &m->side);
  }
  m->from_machine = client;
  pb_message(&m->content, pair->number, &m->inner);
}

static uint64_t wait_of_sync(struct move *m, const struct pb_field *sync) {
  const uint32_t client = m->from_machine;
  struct pb in = pb_inside(sync);
  struct pb_field pair, f;
  uint64_t wait = 0;
  while (pb_next(&in, &pair))
    for (struct pb sides = pb_inside(&pair); pair.wire == PB_BYTES && pb_next(&sides, &f);) {
      m->from_machine = f.number == SYNCED_HOST ? 0 : client;
      const uint64_t own = f.wire == PB_BYTES ? wait_of(m, &f) : 0;
      wait = own > wait ? own : wait;
    }
  m->from_machine = client;
  return wait;
}

/* Moves both snapshots of each pair by the same amount, so that the offset of the client's clock, which follows from their
 * difference, stays the same. */
static void put_sync(struct move *m, const struct pb_field *sync) {
  const uint64_t wait = wait_of_sync(m, sync);
  struct pb in = pb_inside(sync);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) == PB_KEY(REMOTE_SYNCED_CLOCKS, PB_BYTES)) put_pair(m, &f, wait);
    else buf_append(&m->content, from, (size_t)(in.p - from));
  }
}

/* ---- contents ---- */

static const struct moved_field *row_of(uint32_t packet, uint32_t field) {
  for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
    if (FIELDS[i].packet == packet && FIELDS[i].field == field) return &FIELDS[i];
  return NULL;
}

static bool has_times(uint32_t packet) {
  for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
    if (FIELDS[i].packet == packet) return true;
  return packet == PACKET_FTRACE || packet == PACKET_CLOCK_SNAPSHOT || packet == PACKET_REMOTE_CLOCK_SYNC ||
         packet == PACKET_MODEM_EVENTS;
}

static void put_fields(struct move *m, const struct pb_field *content) {
  struct pb in = pb_inside(content);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const struct moved_field *row = row_of(content->number, f.number);
    const struct time_unit u = {row ? row->clock : 0, row ? row->unit : 1};
    if (row && row->inner && f.wire == PB_BYTES) put_inner(m, &f, row->inner, u);
    else if (row && !row->inner && f.wire != PB_FIXED32) put_time(m, &m->content, &f, u);
    else buf_append(&m->content, from, (size_t)(in.p - from));
  }
}

/* ---- names of processes ---- */

/* Location of a process's pid and name in a packet's content: a message inside the content, and two fields of this message. */
static const struct named_field {
  uint32_t packet, process, pid, name;
  bool is_command; /* true for a command line: if it has one element, importers use the first word as the name */
} NAMES[] = {
    {PACKET_PROCESS_TREE, 1, 1, 3, true}, /* ps/process_tree.proto: processes; pid, cmdline */
    {PACKET_TRACK_DESCRIPTOR, DESCRIPTOR_PROCESS, PROCESS_PID, PROCESS_NAME, false},
    {122, 2, 1, 3, false},                /* generic_kernel/generic_task.proto: processes; pid, cmdline */
};

static const struct named_field *names_in(uint32_t packet) {
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (NAMES[i].packet == packet) return &NAMES[i];
  return NULL;
}

static tk_id process_named(const struct move *m, const struct named_field *row, const struct pb_field *process) {
  struct pb in = pb_inside(process);
  struct pb_field f;
  uint64_t pid = 0;
  while (pb_next(&in, &f))
    if (pb_field_key(&f) == PB_KEY(row->pid, PB_VARINT)) pid = f.value;
  const uint32_t *at = map_get(m->names.of, move_name_key(m->from_machine, pid));
  return at ? *at : 0;
}

/* Appends the message of a process, with its first name replaced by the name of the track. */
static void put_process(struct move *m, const struct named_field *row, const struct pb_field *process, tk_id track) {
  const struct tk_trace *t = m->names.t;
  struct pb in = pb_inside(process);
  struct pb_field f;
  size_t n;
  const char *name = tk_string(t, t->tracks[track].name, &n);
  unsigned n_parts = 0;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_part = pb_field_key(&f) == PB_KEY(row->name, PB_BYTES);
    if (is_part && !n_parts) pb_bytes(&m->inner, row->name, name, n);
    else buf_append(&m->inner, from, (size_t)(in.p - from));
    n_parts += is_part;
  }
  if (!n_parts) pb_bytes(&m->inner, row->name, name, n);
  if (row->is_command && n_parts < 2 && memchr(name, ' ', n)) pb_bytes(&m->inner, row->name, "", 0);
  pb_message(&m->named, process->number, &m->inner);
  map_put(m->names.written, track, 1);
}

/* Replaces names in the content that was built. */
static void rename_processes(struct move *m, const struct named_field *row) {
  struct pb in = pb_over(m->content.data, m->content.len);
  struct pb_field f;
  m->named.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const bool is_process = pb_field_key(&f) == PB_KEY(row->process, PB_BYTES);
    const tk_id track = is_process ? process_named(m, row, &f) : 0;
    if (track) put_process(m, row, &f, track);
    else buf_append(&m->named, from, (size_t)(in.p - from));
  }
  m->content.len = 0;
  buf_append(&m->content, m->named.data, m->named.len);
}

static void put_content(struct move *m, const struct pb_field *content) {
  const struct named_field *names = m->names.of ? names_in(content->number) : NULL;
  m->content.len = 0;
  switch (content->number) {
  case PACKET_FTRACE: put_ftrace(m, content); break;
  case PACKET_CLOCK_SNAPSHOT: put_snapshot(m, &m->content, content, wait_of(m, content)); break;
  case PACKET_REMOTE_CLOCK_SYNC: put_sync(m, content); break;
  case PACKET_MODEM_EVENTS: put_modem(m, content); break;
  default: put_fields(m, content);
  }
  if (names) rename_processes(m, names);
  pb_message(&m->packet, content->number, &m->content);
}

/* ---- packets ---- */

static uint32_t clock_in(const struct pb_field *defaults) {
  struct pb in = pb_inside(defaults);
  struct pb_field f;
  while (pb_next(&in, &f))
    if (pb_field_key(&f) == PB_KEY(DEFAULTS_TIMESTAMP_CLOCK_ID, PB_VARINT)) return (uint32_t)f.value;
  return 0;
}

/* Returns the clock of the packet's timestamp; 0 = the trace clock, because the packet names none. */
static uint32_t clock_of(struct move *m, const struct packet_head *h) {
  uint32_t *of = map_put(&m->clocks, (uint64_t)h->machine << 32 | (uint32_t)h->sequence, 0);
  if (of && h->flags & SEQUENCE_CLEARED) *of = 0;
  if (of && h->defaults.p) *of = clock_in(&h->defaults);
  return h->has_clock ? h->clock : of ? *of : CLOCK_OF_TRACE;
}

static uint32_t machine_of(struct move *m, uint32_t machine) {
  const uint32_t *to = machine ? map_get(&m->machines, machine) : NULL;
  return !machine ? m->machine : to ? *to : machine;
}

/* A timestamp after the move. */
struct stamp {
  uint64_t time;
  uint32_t clock; /* 0 = as before */
};

static struct stamp moved_stamp(const struct move *m, uint32_t clock, uint64_t time) {
  const bool follows = clock == CLOCK_OF_TRACE || clock == CLOCK_REALTIME || clock == m->out_clock;
  int64_t ns, zero;
  if (!m->warp || follows || !readings_to_trace(&m->readings, m->from_machine, clock, time, &ns))
    return (struct stamp){moved_time(time, distance(m, clock, time)), 0};
  readings_to_trace(&m->readings, m->from_machine, m->trace_clock, 0, &zero);
  const int64_t moved = num_sub(along(m, m->trace, ns), zero);
  return (struct stamp){moved < 0 ? 0 : (uint64_t)moved, m->out_clock};
}

/* True if the packet has times on the clock that becomes the trace clock, and no snapshot relates this clock to the old trace
 * clock. */
static bool is_unrelated(const struct move *m, uint32_t clock, const struct pb_field *packet) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  int64_t ns;
  bool uses = clock == m->out_clock;
  if (m->out_clock == m->trace_clock || readings_to_trace(&m->readings, m->from_machine, m->out_clock, 0, &ns)) return false;
  while (!uses && pb_next(&in, &f)) uses = pb_field_key(&f) == PB_KEY(PACKET_FTRACE, PB_BYTES) && ftrace_clock(&f) == m->out_clock;
  return uses;
}

/* True for the packet that states when tracing started. Importers drop the ftrace events of all machines before the last such time. */
static bool is_start(const struct packet_head *h) {
  return h->content.number == PACKET_SERVICE_EVENT && head_has(&h->content, SERVICE_TRACING_STARTED);
}

/* True for packets that describe later ones but have no time, such as the names of GPU stages. Importers would use them at the last
 * time that came before them in the file, which may be the end of another trace. */
static bool needs_time(const struct move *m, const struct packet_head *h) {
  const struct kind_of_packet *kind = h->kind;
  return m->is_one_of_several && !h->has_timestamp && kind && kind->rule == KIND_TIMED && head_has(&h->content, kind->state);
}

/* True if the packet may name a machine. trace_processor (v52) aborts at a shell transition of another machine than the first. */
static bool may_name_machine(const struct packet_head *h) { return h->content.number != PACKET_SHELL_TRANSITION; }

const struct buf *move_packet(struct move *m, const struct pb_field *packet) {
  struct packet_head h = {.sequence = 0};
  struct stamp stamp = {0, 0};
  struct pb in = pb_inside(packet);
  struct pb_field f;
  head_read(packet, &h);
  const uint32_t clock = clock_of(m, &h), machine = machine_of(m, h.machine);
  const bool starts = m->is_one_of_several && is_start(&h);
  m->from_machine = h.machine;
  if (is_unrelated(m, clock, packet)) return NULL;
  if (h.has_timestamp) stamp = moved_stamp(m, clock, h.timestamp);
  m->packet.len = 0;
  if (needs_time(m, &h)) pb_u64(&m->packet, PACKET_TIMESTAMP, m->trace.to_ns < 0 ? 0 : (uint64_t)m->trace.to_ns);
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (starts && f.number == PACKET_SERVICE_EVENT) continue;
    if (f.number == PACKET_MACHINE_ID || (f.number == PACKET_TIMESTAMP_CLOCK_ID && stamp.clock)) continue;
    if (pb_field_key(&f) == PB_KEY(PACKET_TIMESTAMP, PB_VARINT)) pb_u64(&m->packet, f.number, stamp.time);
    else if (f.wire == PB_BYTES && ((m->moves && has_times(f.number)) || (m->names.of && names_in(f.number)))) put_content(m, &f);
    else buf_append(&m->packet, from, (size_t)(in.p - from));
  }
  if (stamp.clock) pb_u64(&m->packet, PACKET_TIMESTAMP_CLOCK_ID, stamp.clock);
  if (machine && may_name_machine(&h)) pb_u64(&m->packet, PACKET_MACHINE_ID, machine);
  return &m->packet;
}

void move_begin(struct move *m, const struct tk_trace *t, struct mem *mem) {
  *m = (struct move){.mem = mem};
  readings_begin(&m->readings, t, mem);
  m->trace_clock = m->out_clock = m->readings.head.trace_clock;
  map_init(&m->machines, mem);
  map_init(&m->clocks, mem);
  m->packet.mem = m->content.mem = m->inner.mem = m->item.mem = m->side.mem = m->named.mem = mem;
}

void move_to(struct move *m, const struct tk_trace *t, int64_t zero_ns, uint32_t clock) {
  const struct clock_readings *head = &m->readings.head;
  m->trace = (struct move_axis){head->base_ns, num_sub(t->origin_ns, zero_ns)};
  m->real = t->clock == TK_CLOCK_REALTIME ? (struct move_axis){head->origin_ns, t->origin_ns} : m->trace;
  m->warp = trace_warp_of(t);
  m->out_clock = clock;
  m->moves = m->warp || m->trace.from_ns != m->trace.to_ns || m->real.from_ns != m->real.to_ns || m->out_clock != m->trace_clock;
}

void move_end(struct move *m) {
  readings_end(&m->readings);
  map_free(&m->machines);
  map_free(&m->clocks);
  buf_free(&m->packet);
  buf_free(&m->content);
  buf_free(&m->inner);
  buf_free(&m->item);
  buf_free(&m->side);
  buf_free(&m->named);
}
