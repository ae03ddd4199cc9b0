/* procs.c - adds processes, threads and counters to which packets of the system refer by number.
 *
 * Ftrace events state the thread that was running, and some of them also its process; the process of a thread may become known only
 * later, from a process tree. Therefore threads are nodes, like the tracks of TrackEvents, and are assigned to processes at the end of
 * the file. These nodes have no uuid and are marked `in_packets`, because their events come from packets that are passed through. A
 * thread that also has track events gets a second track in the graph, because only its track events are written as TrackEvents. */
#include "procs.h"

#include "clock.h"
#include "counters.h"
#include "track.h"

static uint64_t number_key(uint32_t machine, int64_t number) { return (uint64_t)machine << 32 | (uint32_t)number; }

void procs_init(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  map_init(&r->procs.threads, mem);
  map_init(&r->procs.processes, mem);
  map_init(&r->procs.counters, mem);
}

void procs_free(struct perfetto *r) {
  map_free(&r->procs.threads);
  map_free(&r->procs.processes);
  map_free(&r->procs.counters);
}

static struct node proc_node(uint32_t machine, enum node_kind kind) {
  return (struct node){.machine = machine, .kind = (uint8_t)kind, .described = true, .in_packets = true};
}

uint32_t proc_process(struct perfetto *r, uint32_t machine, int64_t pid) {
  uint32_t *slot = map_put(&r->procs.processes, number_key(machine, pid), 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct node n = proc_node(machine, NODE_PROCESS);
  n.pid = pid;
  return *slot = track_add_node(r, n);
}

uint32_t proc_find_thread(const struct perfetto *r, uint32_t machine, int64_t tid) {
  const uint32_t *slot = map_get(&r->procs.threads, number_key(machine, tid));
  return slot ? *slot : 0;
}

static uint32_t add_thread(struct perfetto *r, uint32_t machine, int64_t tid, int64_t pid) {
  struct node n = proc_node(machine, NODE_THREAD);
  n.tid = tid;
  n.pid = pid;
  n.no_process = pid == PROC_UNKNOWN;
  return track_add_node(r, n);
}

uint32_t proc_thread(struct perfetto *r, uint32_t machine, int64_t tid, int64_t pid) {
  uint32_t *slot = map_put(&r->procs.threads, number_key(machine, tid), 0);
  if (!slot) return 0;
  struct node *n = &r->nodes[*slot];
  if (*slot && n->no_process && pid != PROC_UNKNOWN) n->pid = pid, n->no_process = false;
  if (*slot && (pid == PROC_UNKNOWN || n->pid == pid)) return *slot;
  return *slot = add_thread(r, machine, tid, pid);
}

uint32_t proc_counter(struct perfetto *r, uint32_t machine, uint32_t process, tk_id name, tk_id unit) {
  const uint64_t key = process ? (uint64_t)process << 32 | name : hash_pair(machine, name);
  uint32_t *slot = map_put(&r->procs.counters, key, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct node n = proc_node(machine, NODE_COUNTER);
  n.name = name;
  n.unit = unit;
  n.up = process;
  return *slot = track_add_node(r, n);
}

void proc_name(struct perfetto *r, uint32_t node, tk_id name, enum proc_source source) {
  struct node *n = &r->nodes[node];
  if (!node || !name || n->name_source > source) return;
  n->own_name = name;
  n->name_source = (uint8_t)source;
}

/* Returns the time of a packet. A time on a clock of the sequence was converted when the packet was passed through, because an
 * incremental clock must not advance twice. */
bool proc_packet_time(struct perfetto *r, struct sequence *q, const struct packet *k, struct proc_time *at) {
  *at = (struct proc_time){.ns = k->own_ns};
  if (!k->has_timestamp) return false;
  if (!k->has_own_ns && !clock_time(r, q, k, &at->ns, &at->pending)) return at->pending != 0;
  at->pending = 0;
  return true;
}

struct tk_event *proc_event(struct perfetto *r, uint32_t node, enum aspect aspect, struct proc_time at) {
  struct tk_event *e = trace_add_event(r->t);
  e->ts = at.ns;
  e->track = node * ASPECTS + (uint32_t)aspect;
  r->nodes[node].has_events = true;
  if (at.pending) perfetto_add_pending(r, (struct pending_time){at.pending, r->t->n_events, false});
  r->t->counts.read++;
  return e;
}

void proc_sample(struct perfetto *r, uint32_t counter, struct proc_time at, int64_t value) {
  const struct counter_sample sample = {
    .node = counter, .pending = at.pending, .ns = at.ns, .value = {.type = TK_ARG_INT, .i = value}};
  perfetto_sample(r, &sample);
  r->t->counts.read++;
}
