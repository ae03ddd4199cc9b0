/* track.c - reads TrackDescriptors, and the process and thread descriptors of older traces.
 *
 * A track may be described after events use it, repeatedly after each reset of a sequence's incremental state, or never. So a node is
 * created when a track is first mentioned, and descriptors fill it in. Uuids are valid in the whole trace, but only within a
 * machine. */
#include <string.h>

#include "track.h"
#include "reader.h"
#include "machine.h"

uint32_t track_add_node(struct perfetto *r, struct node n) {
  if (!mem_grow(&r->t->store->mem, (void **)&r->nodes, &r->cap_nodes, (uint64_t)r->n_nodes + 2, sizeof *r->nodes)) return 0;
  n.multiplier = 1;
  r->nodes[++r->n_nodes] = n;
  return r->n_nodes;
}

/* Returns the key of a uuid. On machine 0 this is the uuid itself; uuids of other machines must not collide with those. */
static uint64_t uuid_key(uint32_t machine, uint64_t uuid) { return machine ? hash_pair(uuid, machine) : uuid; }

static uint32_t find_uuid(struct perfetto *r, uint32_t machine, uint64_t uuid) {
  uint64_t key = uuid_key(machine, uuid);
  uint32_t *slot;
  for (;; key++) {
    slot = map_put(&r->uuid_index, key, 0);
    if (!slot) return 0;
    if (!*slot) break;
    if (r->nodes[*slot].uuid == uuid && r->nodes[*slot].machine == machine) return *slot;
  }
  return *slot = track_add_node(r, (struct node){.uuid = uuid, .machine = machine, .is_default = uuid == 0});
}

uint32_t track_find_node(const struct perfetto *r, uint32_t machine, uint64_t uuid) {
  for (uint64_t key = uuid_key(machine, uuid);; key++) {
    const uint32_t *slot = map_get(&r->uuid_index, key);
    if (!slot) return 0;
    if (r->nodes[*slot].uuid == uuid && r->nodes[*slot].machine == machine) return *slot;
  }
}

uint32_t track_node_parent(const struct perfetto *r, uint32_t node) {
  uint32_t up = track_find_node(r, r->nodes[node].machine, r->nodes[node].parent_uuid);
  return up ? up : node;
}

uint32_t track_node_process(const struct perfetto *r, uint32_t node) {
  uint32_t process = track_find_node(r, r->nodes[node].machine, r->nodes[node].process);
  return process ? process : node;
}

uint32_t track_node_of_uuid(struct perfetto *r, struct sequence *q, uint32_t machine, uint64_t uuid) {
  if (q->last_node && q->last_uuid == uuid) return q->last_node;
  q->last_uuid = uuid;
  return q->last_node = find_uuid(r, machine, uuid);
}

/* Returns the node of a thread that a sequence or an event names by pid and tid; the node has no uuid. */
uint32_t track_node_of_thread(struct perfetto *r, uint32_t machine, int64_t pid, int64_t tid) {
  uint64_t key = hash_pair(hash_pair((uint64_t)pid, (uint64_t)tid), machine);
  uint32_t *slot;
  for (;; key++) {
    slot = map_put(&r->thread_index, key, 0);
    if (!slot) return 0;
    if (!*slot) break;
    const struct node *n = &r->nodes[*slot];
    if (n->pid == pid && n->tid == tid && n->machine == machine) return *slot;
  }
  return *slot = track_add_node(r, (struct node){.machine = machine, .kind = NODE_THREAD, .described = true, .pid = pid, .tid = tid});
}

/* Appends the bytes of a field that is not modelled, to keep it with the track. */
static void more_fields(struct buf *b, const struct pb *c, const uint8_t *from) { buf_append(b, from, (size_t)(c->p - from)); }

static void process_fields(struct perfetto *r, struct node *n, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  struct buf *labels = &r->json; /* joined to one string, like Chrome's process_labels */
  labels->len = r->fields.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(PROCESS_PID, PB_VARINT): n->pid = (int64_t)g.value; break;
    case PB_KEY(PROCESS_NAME, PB_BYTES): n->own_name = perfetto_field_text(r, &g); break;
    case PB_KEY(PROCESS_LABELS, PB_BYTES):
      if (labels->len) buf_append(labels, r->filed ? "\n" : ",", 1);
      buf_append(labels, g.p, (size_t)g.value);
      break;
    case PB_KEY(PROCESS_LEGACY_SORT_INDEX, PB_VARINT): n->rank = (int64_t)g.value, n->has_rank = true; break;
    default:
      r->has_starts = r->has_starts || g.number == PROCESS_START;
      more_fields(&r->fields, &c, from);
    }
  }
  n->inner_fields = r->fields.len ? perfetto_bytes(r, r->fields.data, r->fields.len) : 0;
  n->labels = labels->len ? perfetto_text(r, labels->data, labels->len) : 0;
}

static void thread_fields(struct perfetto *r, struct node *n, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  r->fields.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(THREAD_PID, PB_VARINT): n->pid = (int64_t)g.value; break;
    case PB_KEY(THREAD_TID, PB_VARINT): n->tid = (int64_t)g.value; break;
    case PB_KEY(THREAD_NAME, PB_BYTES): n->own_name = perfetto_field_text(r, &g); break;
    case PB_KEY(THREAD_LEGACY_SORT_INDEX, PB_VARINT): n->rank = (int64_t)g.value, n->has_rank = true; break;
    case PB_KEY(THREAD_REFERENCE_US, PB_VARINT): /* bases of deltas: our writer writes no deltas */
    case PB_KEY(THREAD_REFERENCE_THREAD_US, PB_VARINT):
    case PB_KEY(THREAD_REFERENCE_INSTRUCTIONS, PB_VARINT): break;
    default: more_fields(&r->fields, &c, from);
    }
  }
  n->inner_fields = r->fields.len ? perfetto_bytes(r, r->fields.data, r->fields.len) : 0;
  if (n->tid > INT32_MAX || n->tid < INT32_MIN)
    perfetto_note(r, TK_NOTE_INFO, "thread ids beyond 32 bits: kept, but readers that use int32 truncate them");
}

static void counter_fields(struct perfetto *r, struct node *n, const struct pb_field *f) {
  bool has_unit = false;
  struct pb c = pb_inside(f);
  struct pb_field g;
  r->fields.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(COUNTER_TYPE, PB_VARINT):
      more_fields(&r->fields, &c, from);
      if (n->name || g.value < 1 || g.value > 2) break;
      n->name = trace_text(r->t, g.value == 1 ? THREAD_TIME_COUNTER : INSTRUCTIONS_COUNTER);
      break;
    case PB_KEY(COUNTER_UNIT, PB_VARINT): /* the enum value is kept as well as the unit's name */
      if ((!n->unit || r->filed) && perfetto_unit(g.value)) n->unit = trace_text(r->t, perfetto_unit(g.value)), has_unit = true;
      more_fields(&r->fields, &c, from);
      break;
    case PB_KEY(COUNTER_UNIT_NAME, PB_BYTES):
      if (!r->filed || !has_unit) n->unit = perfetto_field_text(r, &g); /* trace_processor uses `unit` rather than this name */
      break;
    case PB_KEY(COUNTER_MULTIPLIER, PB_VARINT): n->multiplier = g.value ? (int64_t)g.value : 1; break;
    case PB_KEY(COUNTER_IS_INCREMENTAL, PB_VARINT): n->incremental = g.value != 0; break;
    default: more_fields(&r->fields, &c, from);
    }
  }
  n->inner_fields = r->fields.len ? perfetto_bytes(r, r->fields.data, r->fields.len) : 0;
}

/* True if two descriptors name a track differently, for example because a producer changes the name. */
static bool differs(const struct node *was, const struct node *n) {
  return (was->name && n->name && was->name != n->name) || (was->own_name && n->own_name && was->own_name != n->own_name);
}

/* True if two descriptors with one uuid describe different tracks, as in a file that consists of two traces. */
static bool is_other_track(const struct node *was, const struct node *n) {
  return was->kind != n->kind || was->pid != n->pid || was->tid != n->tid;
}

/* Keeps the first of two tracks with one uuid, as trace_processor does. A process that the second descriptor names exists as well, but
 * no event belongs to it. */
static void refuse_track(struct perfetto *r, const struct node *n) {
  perfetto_note(r, TK_NOTE_INFO, "two different tracks with the same uuid (concatenated traces?): the first one is used");
  if (n->kind != NODE_PROCESS) return;
  track_add_node(r, (struct node){.kind = NODE_PROCESS, .described = true, .machine = n->machine, .pid = n->pid,
                                  .own_name = n->own_name, .labels = n->labels, .rank = n->rank, .has_rank = n->has_rank});
}

/* Reads the private fields of a track, which our writer adds. */
static void read_private_fields(struct perfetto *r, struct node *n, const struct pb_field *f) {
  n->has_private = !r->filed;
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    if (r->filed && g.number != TRACK_MACHINE) continue;
    switch (pb_field_key(&g)) {
    case PB_KEY(TRACK_FORM, PB_VARINT): n->form = (uint32_t)g.value; break;
    case PB_KEY(TRACK_IDENT, PB_BYTES): n->ident_text = perfetto_field_text(r, &g); break;
    case PB_KEY(TRACK_COUNTER_ID, PB_BYTES): n->counter_id = perfetto_field_text(r, &g); break;
    case PB_KEY(TRACK_PROCESS, PB_VARINT): n->process = g.value; break;
    case PB_KEY(TRACK_MACHINE, PB_BYTES): machine_named(r, n->machine, perfetto_field_text(r, &g)); break;
    case PB_KEY(TRACK_TID, PB_VARINT): n->thread = ident_int((int64_t)g.value); break;
    case PB_KEY(TRACK_TID_TEXT, PB_BYTES): n->thread = ident_str(perfetto_field_text(r, &g)); break;
    default: break;
    }
  }
  if (n->form & FORM_QUOTED && n->thread.kind == TK_IDENT_INT) n->thread.kind = TK_IDENT_QUOTED;
  if (n->form & FORM_SERIES && n->ident_text) n->unit = n->ident_text;
  if (n->form & FORM_ASYNC && n->ident_text) n->thread = ident_str(n->ident_text);
}

/* Reads the order of processes and threads, which only the descriptor without a uuid can state, for the whole trace; and
 * whether the last of a track's names counts. */
static void read_rules(struct perfetto *r, struct node *n, const struct pb_field *f) {
  if (!n->uuid && f->number == DESCRIPTOR_PROCESS_ORDERING) r->orders_processes = f->value == 1;
  if (!n->uuid && f->number == DESCRIPTOR_THREAD_ORDERING) r->orders_threads = f->value == 1;
  if (f->number == DESCRIPTOR_MERGE_BEHAVIOR) n->last_name_counts = f->value == MERGE_NONE;
}

static bool descriptor_fields(struct perfetto *r, struct node *n, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g, name = {0};
  r->copy.len = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(DESCRIPTOR_NAME, PB_BYTES):
    case PB_KEY(DESCRIPTOR_STATIC_NAME, PB_BYTES):
    case PB_KEY(DESCRIPTOR_ATRACE_NAME, PB_BYTES): name = g; break;
    case PB_KEY(DESCRIPTOR_UUID, PB_VARINT): break;
    case PB_KEY(DESCRIPTOR_PARENT_UUID, PB_VARINT): n->parent_uuid = g.value, n->has_parent = g.value != 0; break;
    case PB_KEY(DESCRIPTOR_PROCESS, PB_BYTES):
      n->kind = NODE_PROCESS;
      process_fields(r, n, &g);
      break;
    case PB_KEY(DESCRIPTOR_THREAD, PB_BYTES):
      n->kind = NODE_THREAD;
      thread_fields(r, n, &g);
      break;
    case PB_KEY(DESCRIPTOR_COUNTER, PB_BYTES):
      n->kind = NODE_COUNTER;
      counter_fields(r, n, &g);
      break;
    case PB_KEY(DESCRIPTOR_SIBLING_ORDER_RANK, PB_VARINT): n->rank = (int64_t)g.value, n->has_rank = true; break;
    case PB_KEY(DESCRIPTOR_TRACEKIT, PB_BYTES): read_private_fields(r, n, &g); break;
    default:
      read_rules(r, n, &g);
      if (n->uuid) more_fields(&r->copy, &c, from);
    }
  }
  /* trace_processor uses the last name before the track's first event or, for MERGE_NONE, the last name in the file */
  if (name.p && (!n->name || !n->has_events || n->last_name_counts)) n->name = perfetto_field_text(r, &name);
  n->fields = r->copy.len ? perfetto_bytes(r, r->copy.data, r->copy.len) : n->fields;
  return !c.fault;
}

uint32_t track_descriptor(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f, bool *whole) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  uint64_t uuid = 0;
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(DESCRIPTOR_UUID, PB_VARINT)) uuid = g.value;
  uint32_t at = track_node_of_uuid(r, q, machine, uuid);
  *whole = true;
  if (!at) return 0;
  struct node n = r->nodes[at], was = n;
  if (n.kind == NODE_UNKNOWN) n.kind = NODE_NAMED;
  *whole = descriptor_fields(r, &n, f);
  if (!*whole) perfetto_damage(r, "damaged track descriptor, read as far as possible");
  n.described = true;
  if (n.kind == NODE_THREAD) q->has_thread = true, q->pid = n.pid, q->tid = n.tid;
  const bool is_other = was.described && is_other_track(&was, &n);
  if (is_other) refuse_track(r, &n);
  else if (was.described && differs(&was, &n))
    perfetto_note(r, TK_NOTE_INFO, "two different names for the same track (concatenated traces?): the last one is used");
  if (!is_other) r->nodes[at] = n;
  r->t->counts.read++;
  r->t->counts.by_phase['M']++;
  return at;
}

void track_old_process(struct perfetto *r, uint32_t machine, const struct pb_field *f) {
  struct node n = {.kind = NODE_PROCESS, .described = true, .machine = machine};
  process_fields(r, &n, f);
  track_add_node(r, n);
  r->t->counts.read++;
  r->t->counts.by_phase['M']++;
}

/* Reads an old thread descriptor, which names the thread of its sequence and the base of time deltas
 * (ThreadDescriptor.reference_timestamp_us). */
void track_old_thread(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f) {
  struct node n = {.kind = NODE_THREAD};
  struct pb c = pb_inside(f);
  struct pb_field g;
  thread_fields(r, &n, f);
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(THREAD_REFERENCE_US, PB_VARINT)) q->time_us = (int64_t)g.value;
    if (pb_field_key(&g) == PB_KEY(THREAD_REFERENCE_THREAD_US, PB_VARINT)) q->thread_us = (int64_t)g.value;
    if (pb_field_key(&g) == PB_KEY(THREAD_REFERENCE_INSTRUCTIONS, PB_VARINT)) q->instructions = (int64_t)g.value;
  }
  uint32_t at = track_node_of_thread(r, machine, n.pid, n.tid);
  if (!at) return;
  if (n.own_name) r->nodes[at].own_name = n.own_name;
  if (n.has_rank) r->nodes[at].rank = n.rank, r->nodes[at].has_rank = true;
  q->has_thread = true;
  q->pid = n.pid;
  q->tid = n.tid;
  r->t->counts.read++;
  r->t->counts.by_phase['M']++;
}
