/* move.c - moves packets to another time and another machine.
 *
 * Moves the timestamps of packets, the times inside their contents (table below), and the readings of the trace clock in
 * snapshots. Times on other clocks stay as they are: snapshots relate those clocks to the trace clock, so these times follow.
 * REALTIME is the exception. It moves by its own amount, which is 0 if only the zero of the file changes.
 *
 * A time that would be negative becomes 0. If a reading of a clock snapshot would be negative, all readings of that snapshot are
 * increased by the same amount, so that they describe a later moment. */
#include "move.h"

#include <string.h>

#include "format/pb_out.h"
#include "format/perfetto/fields.h"

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

/* Returns how far times on this clock move, in ns. */
static int64_t distance(const struct move *m, uint32_t clock) {
  if (clock == CLOCK_REALTIME) return m->real_ns;
  return clock == m->trace_clock || clock == CLOCK_OF_TRACE ? m->ns : 0;
}

static int64_t in_units(int64_t ns, uint32_t unit) {
  const int64_t whole = ns / (int64_t)unit, rest = ns % (int64_t)unit * 2;
  return unit == 1 ? ns : whole + (rest >= (int64_t)unit) - (rest <= -(int64_t)unit);
}

/* Appends a field with a time, or with packed times. */
static void put_time(struct buf *b, const struct pb_field *f, int64_t by, struct buf *scratch) {
  uint64_t time;
  if (f->wire == PB_VARINT) {
    pb_u64(b, f->number, moved_time(f->value, by));
    return;
  }
  if (f->wire == PB_FIXED64) {
    pb_fixed64(b, f->number, moved_time(f->value, by));
    return;
  }
  scratch->len = 0;
  for (struct pb in = pb_inside(f); in.p < in.end && pb_varint(&in, &time);) {
    uint8_t *p = buf_reserve(scratch, 16);
    if (p) scratch->len = (size_t)(varint_put(p, moved_time(time, by)) - scratch->data);
  }
  pb_message(b, f->number, scratch);
}

/* ---- packed deltas ---- */

/* Appends packed deltas, the first of which is an absolute time. */
static void put_deltas(struct move *m, struct buf *b, const struct pb_field *f, int64_t by) {
  struct pb in = pb_inside(f);
  uint64_t first;
  m->item.len = 0;
  if (in.p < in.end && pb_varint(&in, &first)) {
    uint8_t *p = buf_reserve(&m->item, 16);
    if (p) m->item.len = (size_t)(varint_put(p, moved_time(first, by)) - m->item.data);
    buf_append(&m->item, in.p, (size_t)(in.end - in.p));
  }
  pb_message(b, f->number, &m->item);
}

/* android/pixel_modem_events.proto: event_time_nanos */
static void put_modem(struct move *m, const struct pb_field *content) {
  enum { EVENT_TIMES = 2 };
  struct pb in = pb_inside(content);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) == PB_KEY(EVENT_TIMES, PB_BYTES)) put_deltas(m, &m->content, &f, distance(m, CLOCK_BOOTTIME));
    else buf_append(&m->content, from, (size_t)(in.p - from));
  }
}

/* ---- ftrace ---- */

static void put_compact(struct move *m, const struct pb_field *f, int64_t by) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &g); from = in.p) {
    const bool is_time = (g.number == COMPACT_SWITCH_TIME || g.number == COMPACT_WAKING_TIME) && g.wire == PB_BYTES;
    if (is_time) put_deltas(m, &m->inner, &g, by);
    else buf_append(&m->inner, from, (size_t)(in.p - from));
  }
  pb_message(&m->content, f->number, &m->inner);
}

/* Appends a message whose field `time` is moved. */
static void put_inner(struct move *m, const struct pb_field *f, uint32_t time, int64_t by) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  m->inner.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &g); from = in.p) {
    if (g.number == time && g.wire != PB_FIXED32) put_time(&m->inner, &g, by, &m->item);
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
  const int64_t by = distance(m, ftrace_clock(bundle)), boot = distance(m, CLOCK_BOOTTIME);
  struct pb in = pb_inside(bundle);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    switch (pb_field_key(&f)) {
    case PB_KEY(FTRACE_EVENT, PB_BYTES):
    case PB_KEY(FTRACE_ERROR, PB_BYTES): put_inner(m, &f, FTRACE_EVENT_TIME, by); break;
    case PB_KEY(FTRACE_COMPACT, PB_BYTES): put_compact(m, &f, by); break;
    case PB_KEY(FTRACE_BOOT_TIME, PB_VARINT): put_time(&m->content, &f, boot, &m->item); break;
    case PB_KEY(FTRACE_LAST_READ, PB_VARINT):
    case PB_KEY(FTRACE_PREVIOUS_END, PB_VARINT): put_time(&m->content, &f, by, &m->item); break;
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

/* Returns how many ns to add to all readings of the snapshot so that none is negative after the move. */
static uint64_t wait_of(const struct move *m, const struct pb_field *snapshot) {
  struct pb in = pb_inside(snapshot);
  struct pb_field f;
  uint64_t wait = 0;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) continue;
    const struct reading r = read_clock(&f);
    const int64_t by = distance(m, (uint32_t)r.id);
    const uint64_t back = 0 - (uint64_t)by;
    if (by < 0 && r.time < back && back - r.time > wait) wait = back - r.time;
  }
  return wait;
}

static void put_snapshot(struct move *m, const struct pb_field *snapshot) {
  const uint64_t wait = wait_of(m, snapshot);
  struct pb in = pb_inside(snapshot);
  struct pb_field f, g;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (pb_field_key(&f) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) {
      buf_append(&m->content, from, (size_t)(in.p - from));
      continue;
    }
    const struct reading r = read_clock(&f);
    m->item.len = 0;
    struct pb fields = pb_inside(&f);
    for (const uint8_t *at = fields.p; pb_next(&fields, &g); at = fields.p) {
      if (pb_field_key(&g) != PB_KEY(CLOCK_TIMESTAMP, PB_VARINT)) buf_append(&m->item, at, (size_t)(fields.p - at));
      else pb_u64(&m->item, CLOCK_TIMESTAMP, r.time + (uint64_t)distance(m, (uint32_t)r.id) + wait / r.unit);
    }
    pb_message(&m->content, SNAPSHOT_CLOCKS, &m->item);
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
  return packet == PACKET_FTRACE || packet == PACKET_CLOCK_SNAPSHOT || packet == PACKET_MODEM_EVENTS;
}

static void put_fields(struct move *m, const struct pb_field *content) {
  struct pb in = pb_inside(content);
  struct pb_field f;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    const struct moved_field *row = row_of(content->number, f.number);
    const int64_t by = row ? in_units(distance(m, row->clock), row->unit) : 0;
    if (row && row->inner && f.wire == PB_BYTES) put_inner(m, &f, row->inner, by);
    else if (row && !row->inner && f.wire != PB_FIXED32) put_time(&m->content, &f, by, &m->item);
    else buf_append(&m->content, from, (size_t)(in.p - from));
  }
}

static void put_content(struct move *m, const struct pb_field *content) {
  m->content.len = 0;
  if (content->number == PACKET_FTRACE) put_ftrace(m, content);
  else if (content->number == PACKET_CLOCK_SNAPSHOT) put_snapshot(m, content);
  else if (content->number == PACKET_MODEM_EVENTS) put_modem(m, content);
  else put_fields(m, content);
  pb_message(&m->packet, content->number, &m->content);
}

/* ---- packets ---- */

/* The fields of a packet on which its time depends. */
struct moved_head {
  uint64_t sequence, flags;
  uint32_t clock, machine;
  bool has_clock;
  struct pb_field defaults;
};

static void read_moved(const struct pb_field *packet, struct moved_head *h) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT):
      h->clock = (uint32_t)f.value;
      h->has_clock = true;
      break;
    case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): h->sequence = f.value; break;
    case PB_KEY(PACKET_MACHINE_ID, PB_VARINT): h->machine = (uint32_t)f.value; break;
    case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): h->flags |= f.value; break;
    case PB_KEY(PACKET_STATE_CLEARED, PB_VARINT): h->flags |= f.value ? SEQUENCE_CLEARED : 0; break;
    case PB_KEY(PACKET_DEFAULTS, PB_BYTES): h->defaults = f; break;
    default: break;
    }
  }
}

static uint32_t clock_in(const struct pb_field *defaults) {
  struct pb in = pb_inside(defaults);
  struct pb_field f;
  while (pb_next(&in, &f))
    if (pb_field_key(&f) == PB_KEY(DEFAULTS_TIMESTAMP_CLOCK_ID, PB_VARINT)) return (uint32_t)f.value;
  return 0;
}

/* Returns the clock of the packet's timestamp. */
static uint32_t clock_of(struct move *m, const struct moved_head *h) {
  uint32_t *of = map_put(&m->clocks, (uint64_t)h->machine << 32 | (uint32_t)h->sequence, 0);
  if (of && h->flags & SEQUENCE_CLEARED) *of = 0;
  if (of && h->defaults.p) *of = clock_in(&h->defaults);
  const uint32_t clock = h->has_clock ? h->clock : of ? *of : 0;
  return clock ? clock : m->trace_clock;
}

static uint32_t machine_of(struct move *m, uint32_t machine) {
  const uint32_t *to = machine ? map_get(&m->machines, machine) : NULL;
  return !machine ? m->machine : to ? *to : machine;
}

const struct buf *move_packet(struct move *m, const struct pb_field *packet) {
  struct moved_head h = {.sequence = 0};
  struct pb in = pb_inside(packet);
  struct pb_field f;
  read_moved(packet, &h);
  const int64_t by = distance(m, clock_of(m, &h));
  const uint32_t machine = machine_of(m, h.machine);
  const bool moves = m->ns || m->real_ns;
  m->packet.len = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (f.number == PACKET_MACHINE_ID) continue;
    if (pb_field_key(&f) == PB_KEY(PACKET_TIMESTAMP, PB_VARINT)) pb_u64(&m->packet, f.number, moved_time(f.value, by));
    else if (moves && f.wire == PB_BYTES && has_times(f.number)) put_content(m, &f);
    else buf_append(&m->packet, from, (size_t)(in.p - from));
  }
  if (machine) pb_u64(&m->packet, PACKET_MACHINE_ID, machine);
  return &m->packet;
}

void move_begin(struct move *m, struct mem *mem) {
  *m = (struct move){.mem = mem, .trace_clock = CLOCK_BOOTTIME};
  map_init(&m->machines, mem);
  map_init(&m->clocks, mem);
  m->packet.mem = m->content.mem = m->inner.mem = m->item.mem = mem;
}

void move_end(struct move *m) {
  map_free(&m->machines);
  map_free(&m->clocks);
  buf_free(&m->packet);
  buf_free(&m->content);
  buf_free(&m->inner);
  buf_free(&m->item);
}
