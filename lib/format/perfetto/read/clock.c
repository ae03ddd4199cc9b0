/* clock.c - converts every time to ns on the trace clock: BOOTTIME, or the primary clock of a snapshot.
 *
 * A ClockSnapshot contains the readings of several clocks at one moment. For each clock, the points (own time, time of the
 * trace) are stored. A time is converted by its distance from the last point before it. The time of a snapshot without the
 * trace clock follows from any of its clocks that already has points. Clocks 64 .. 127 are local to their sequence and may be
 * incremental, so that each packet adds to the time of the previous one (ClockSnapshot.Clock: is_incremental,
 * unit_multiplier_ns). */
#include <string.h>

#include "clock.h"
#include "reader.h"

enum { SNAPSHOT_CLOCKS_MOST = 32 };

static uint32_t find_clock(struct perfetto *r, struct map *index, uint64_t key, uint32_t machine) {
  uint32_t *slot = map_put(index, key, 0);
  if (!slot) return 0;
  if (*slot) return *slot;
  if (!mem_grow(&r->t->store->mem, (void **)&r->clocks, &r->cap_clocks, (uint64_t)r->n_clocks + 2, sizeof *r->clocks)) return 0;
  r->clocks[*slot = ++r->n_clocks] = (struct clock){.id = (uint32_t)key, .machine = machine, .unit = 1};
  r->clocks[*slot].of_sequence = index == &r->sequence_clock_index;
  return *slot;
}

bool clock_is_local(uint64_t id) { return id >= CLOCK_OF_SEQUENCE && id <= CLOCK_SEQUENCE_LAST; }

uint32_t clock_builtin(struct perfetto *r, uint32_t machine, uint32_t id) {
  return find_clock(r, &r->clock_index, (uint64_t)machine << 32 | id, machine);
}

static uint32_t clock_of(struct perfetto *r, struct sequence *q, uint32_t machine, uint32_t id) {
  if (q->clock && q->clock_id == id) return q->clock;
  q->clock_id = id;
  if (!clock_is_local(id)) return q->clock = clock_builtin(r, machine, id);
  return q->clock = find_clock(r, &r->sequence_clock_index, (uint64_t)(q - r->sequences) << 32 | id, machine);
}

/* True for the trace clock of any machine. */
static bool is_trace_clock(const struct perfetto *r, uint32_t clock) {
  return r->clocks[clock].id == r->trace_clock && !r->clocks[clock].of_sequence;
}

/* Returns a sum that wraps around beyond 64 bits. Such times are invalid in any case. */
static int64_t wrapping_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

enum { STEPS_MOST = 8 };

/* Sets c->at to the last point that is not after `own`, or to the first point if all are after `own`. Most times are close to
 * the previous one. If points are not sorted by own time (add_clock_point sets `unsorted`), uses the nearest such point as seen
 * from the previous position. */
static void seek_point(struct clock *c, int64_t own) {
  uint32_t most = c->unsorted ? UINT32_MAX : STEPS_MOST, steps = 0, lo, hi = c->n;
  while (c->at > 0 && c->points[c->at].own > own && steps++ < most) c->at--;
  while (c->at + 1 < c->n && c->points[c->at + 1].own <= own && steps++ < most) c->at++;
  if (steps <= most) return;
  for (lo = 0; hi - lo > 1;) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (c->points[mid].own <= own) lo = mid;
    else hi = mid;
  }
  c->at = lo;
}

/* Converts a time to the trace clock of the same machine. Returns false if the clock has no points. */
static bool to_trace_clock(struct perfetto *r, uint32_t clock, int64_t own, int64_t *ns) {
  struct clock *c = &r->clocks[clock];
  *ns = own;
  if (is_trace_clock(r, clock)) return true;
  if (c->n == 0) return false;
  seek_point(c, own);
  *ns = wrapping_add(c->points[c->at].trace, wrapping_add(own, -c->points[c->at].own));
  return true;
}

bool clock_to_trace(struct perfetto *r, uint32_t clock, int64_t own, int64_t *ns) {
  bool known = to_trace_clock(r, clock, own, ns);
  if (known && r->n_machines) *ns = wrapping_add(*ns, -reader_machine_ahead(r, r->clocks[clock].machine));
  return known;
}

static void add_clock_point(struct perfetto *r, uint32_t clock, int64_t own, int64_t trace) {
  struct clock *c = &r->clocks[clock];
  if (!mem_grow(&r->t->store->mem, (void **)&c->points, &c->cap, (uint64_t)c->n + 1, sizeof *c->points)) return;
  if (c->n && c->points[c->n - 1].own == own && c->points[c->n - 1].trace == trace) return;
  c->unsorted = c->unsorted || (c->n && c->points[c->n - 1].own > own);
  c->points[c->n++] = (struct clock_point){own, trace};
}

struct reading {
  uint32_t clock, id;
  int64_t own;
};

static void read_clock(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f, struct reading *out) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  uint64_t id = 0, at = 0, incremental = 0, unit = 1;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(CLOCK_ID, PB_VARINT): id = g.value; break;
    case PB_KEY(CLOCK_TIMESTAMP, PB_VARINT): at = g.value; break;
    case PB_KEY(CLOCK_IS_INCREMENTAL, PB_VARINT): incremental = g.value; break;
    case PB_KEY(CLOCK_UNIT_NS, PB_VARINT): unit = g.value ? g.value : 1; break;
    default: break;
    }
  }
  out->id = (uint32_t)id;
  out->clock = clock_of(r, q, machine, (uint32_t)id);
  struct clock *k = &r->clocks[out->clock];
  k->unit = unit;
  k->n_readings++;
  k->incremental = incremental;
  out->own = k->now = (int64_t)(at * unit);
}

/* Computes the snapshot's time on the trace clock. Returns false if no clock in it can be converted. */
static bool place_snapshot(struct perfetto *r, const struct reading *all, uint32_t n, int64_t *trace) {
  for (uint32_t i = 0; i < n; i++)
    if (is_trace_clock(r, all[i].clock)) {
      *trace = all[i].own;
      return true;
    }
  for (int own = 0; own < 2; own++) /* first the system's clocks, then the sequence's clocks */
    for (uint32_t i = 0; i < n; i++)
      if (clock_is_local(all[i].id) == own && to_trace_clock(r, all[i].clock, all[i].own, trace)) return true;
  return false;
}

static void use_realtime(struct perfetto *r, int64_t real, int64_t trace) {
  if (!r->has_real) r->zero_ns = wrapping_add(real, -trace);
  else if (real < r->last_real) perfetto_note(r, TK_NOTE_REPAIR, "clock REALTIME was set back between snapshots: the first "
                                                                 "snapshot is used");
  r->has_real = true;
  r->last_real = real;
}

struct snapshot_clocks clock_snapshot(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f) {
  struct reading all[SNAPSHOT_CLOCKS_MOST];
  struct pb c = pb_inside(f);
  struct pb_field g;
  uint32_t n = 0, primary = 0;
  int64_t trace;
  struct snapshot_clocks kinds = {0};
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(SNAPSHOT_PRIMARY_CLOCK, PB_VARINT)) primary = (uint32_t)g.value;
    else if (pb_field_key(&g) == PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES) && n < SNAPSHOT_CLOCKS_MOST)
      read_clock(r, q, machine, &g, &all[n++]);
  }
  for (uint32_t i = 0; i < n; i++) (*(clock_is_local(all[i].id) ? &kinds.local : &kinds.shared))++;
  if (primary && !r->has_trace_clock && machine == 0) r->trace_clock = primary, r->has_trace_clock = true;
  if (!place_snapshot(r, all, n, &trace)) {
    /* No clock of the snapshot can be converted: the first system clock of the first such snapshot defines the time of the
     * trace. */
    uint32_t i = 0;
    while (i < n && clock_is_local(all[i].id)) i++;
    if (i == n || r->has_snapshot) return kinds;
    trace = all[i].own;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!is_trace_clock(r, all[i].clock)) add_clock_point(r, all[i].clock, all[i].own, trace);
    if (clock_is_local(all[i].id)) continue;
    if (all[i].id != r->trace_clock || primary) r->has_snapshot = true;
    if (all[i].id == CLOCK_REALTIME && machine == 0) use_realtime(r, all[i].own, trace);
  }
  return kinds;
}

bool clock_of_sequence(const struct sequence *q, const struct packet *k) {
  return clock_is_local(k->has_clock ? k->clock : q->default_clock);
}

bool clock_counts_on(struct perfetto *r, struct sequence *q, const struct packet *k) {
  return clock_of_sequence(q, k) && r->clocks[clock_of(r, q, k->machine, k->has_clock ? k->clock : q->default_clock)].incremental;
}

bool clock_time(struct perfetto *r, struct sequence *q, const struct packet *k, int64_t *ns, uint32_t *clock) {
  uint32_t id = k->has_clock ? k->clock : q->default_clock;
  *ns = (int64_t)k->timestamp;
  *clock = 0;
  if (id == 0 || (id == r->trace_clock && k->machine == 0)) return true;
  *clock = clock_of(r, q, k->machine, id);
  struct clock *c = &r->clocks[*clock];
  int64_t own = (int64_t)(k->timestamp * c->unit);
  if (c->incremental) own = c->now = wrapping_add(c->now, own);
  return clock_to_trace(r, *clock, own, ns);
}
