/* machine.c - handles traces of several machines (TracePacket.machine_id; absent = machine 0).
 *
 * Uuids, pids, sequences and clocks are only valid within a machine. In the graph, a process refers to its machine by name. The
 * meta "perfetto.machines" stores the machines' ids in the file, so that passthrough data keeps its machine.
 *
 * If a packet of another machine states its clock, its time is on that machine's own clock; RemoteClockSync shows how far this
 * clock is ahead of machine 0's. As in trace_processor, a round consists of two pairs of snapshots, (t1c, t1h) and (t2c, t2h)
 * for client and host, within 30 s. A round yields two estimates:
 *
 *     (t1c + t2c) / 2 - t1h       t2c - (t1h + t2h) / 2
 *
 * The result is the mean of all estimates. If a packet does not state its clock, its time is used unchanged as a time of the
 * trace. */
#include <stdio.h>

#include "machine.h"
#include "format/format.h"
#include "reader.h"
#include "clock.h"

/* ---- names ---- */

/* Returns a unique name for a machine, adding a number if necessary, because the graph identifies machines by name. */
static tk_id unique_name(struct perfetto *r, uint32_t at, tk_id said) {
  const uint32_t *first = map_put(&r->machine_names, said, at), *mine = first;
  tk_id name = said;
  char number[16];
  while (mine && *mine != at) {
    struct buf *b = &r->text;
    int n = snprintf(number, sizeof number, " [%u]", ++r->machines[*first].n_same + 1);
    b->len = 0;
    buf_append(b, trace_str(r->t, said)->bytes, trace_str(r->t, said)->len);
    buf_append(b, number, (size_t)n);
    name = trace_string(r->t, b->data, b->len);
    mine = map_put(&r->machine_names, name, at);
    first = map_get(&r->machine_names, said);
  }
  return name;
}

void machine_named(struct perfetto *r, uint32_t id, tk_id name) {
  uint32_t at = perfetto_machine_of(r, id);
  if (!at || r->machines[at].said == name) return;
  r->machines[at].said = name;
  r->machines[at].name = unique_name(r, at, name);
}

tk_id machine_name(struct perfetto *r, uint32_t id) {
  const uint32_t *known = map_get(&r->machine_index, id);
  char text[32];
  if (id == 0 && !known) return 0;
  uint32_t at = perfetto_machine_of(r, id);
  if (!at) return 0;
  snprintf(text, sizeof text, "machine %u", id);
  if (!r->machines[at].name) {
    r->machines[at].name = unique_name(r, at, trace_text(r->t, text));
    perfetto_note(r, TK_NOTE_INFO, "trace has several machines; only Perfetto output records the machine of each process");
  }
  return r->machines[at].name;
}

/* ---- clocks ---- */

enum { ROUND_CLOCKS_MOST = 16 };
static const uint64_t ROUND_NS = 30000000000;

/* A pair of snapshots, one of the client and one of the host: readings of their clocks, by clock id; 0 = none. */
struct pair {
  uint64_t client[ROUND_CLOCKS_MOST], host[ROUND_CLOCKS_MOST];
};

static void read_side(const struct pb_field *snapshot, uint64_t *side) {
  struct pb c = pb_inside(snapshot);
  struct pb_field clock, f;
  while (pb_next(&c, &clock)) {
    uint64_t id = 0, at = 0;
    if (pb_field_key(&clock) != PB_KEY(SNAPSHOT_CLOCKS, PB_BYTES)) continue;
    for (struct pb in = pb_inside(&clock); pb_next(&in, &f);) {
      if (pb_field_key(&f) == PB_KEY(CLOCK_ID, PB_VARINT)) id = f.value;
      if (pb_field_key(&f) == PB_KEY(CLOCK_TIMESTAMP, PB_VARINT)) at = f.value;
    }
    if (id < ROUND_CLOCKS_MOST) side[id] = at;
  }
}

static void read_pair(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f, struct pair *p) {
  struct pb c = pb_inside(f);
  struct pb_field side;
  *p = (struct pair){0};
  while (pb_next(&c, &side)) {
    if (pb_field_key(&side) == PB_KEY(SYNCED_HOST, PB_BYTES)) read_side(&side, p->host);
    if (pb_field_key(&side) != PB_KEY(SYNCED_CLIENT, PB_BYTES)) continue;
    read_side(&side, p->client);
    clock_snapshot(r, q, machine, &side); /* this is also a snapshot of the machine's own clocks */
  }
}

static uint64_t half(uint64_t a, uint64_t b) { return (a & b) + ((a ^ b) >> 1); }

void machine_sync(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f) {
  uint32_t clock = r->trace_clock < ROUND_CLOCKS_MOST ? r->trace_clock : 0, at = machine ? perfetto_machine_of(r, machine) : 0;
  struct pair before = {0}, now;
  struct pb c = pb_inside(f);
  struct pb_field g;
  int64_t n = 0;
  uint64_t sum = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) != PB_KEY(REMOTE_SYNCED_CLOCKS, PB_BYTES)) continue;
    read_pair(r, q, machine, &g, &now);
    uint64_t c1 = before.client[clock], h1 = before.host[clock], c2 = now.client[clock], h2 = now.host[clock];
    bool one_round = now.client[CLOCK_BOOTTIME] - before.client[CLOCK_BOOTTIME] < ROUND_NS;
    before = now;
    if (!one_round || !c1 || !h1 || !c2 || !h2) continue;
    sum += half(c1, c2) - h1 + c2 - half(h1, h2);
    n += 2;
  }
  if (at && n) r->machines[at].ahead_ns = (int64_t)sum / n;
}

void machine_passthrough(struct perfetto *r) {
  struct buf *all = &r->copy;
  all->len = 0;
  for (uint32_t i = 1; i <= r->n_machines; i++) {
    struct format_machine k = {r->machines[i].id, r->machines[i].ahead_ns, machine_name(r, r->machines[i].id)};
    buf_append(all, &k, sizeof k);
  }
  if (all->len) perfetto_add_passthrough(r, PASSTHROUGH_MACHINES, all->data, all->len);
}
