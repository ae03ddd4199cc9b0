/* descriptors.c - writes TrackDescriptors, the clock, and the top-level data of a trace.
 *
 * trace_processor accepts one uuid per process and per thread; tracks with other uuids need a name. Properties for which Perfetto has
 * no field (string tids, the track to which a lane belongs) are in a private field, which importers ignore. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"
#include "writer.h"
#include "passthrough.h"
#include "machine.h"
#include "extension.h"
#include "base/order.h"

static void put_descriptor(struct perfetto_sink *s, struct buf *descriptor) {
  s->packet.len = 0;
  pb_message(&s->packet, PACKET_TRACK_DESCRIPTOR, descriptor);
  if (s->w.machine) pb_u64(&s->packet, PACKET_MACHINE_ID, s->w.machine);
  writer_packet(s->out, &s->packet);
  s->w.n_packets++;
}

static void put_lone_descriptor(struct perfetto_sink *s, const struct buf *descriptor) {
  s->inner.len = s->packet.len = 0;
  pb_message(&s->inner, TRACEKIT_TRACK, descriptor);
  pb_message(&s->packet, PACKET_TRACEKIT, &s->inner);
  if (s->w.machine) pb_u64(&s->packet, PACKET_MACHINE_ID, s->w.machine);
  writer_packet(s->out, &s->packet);
}

bool descriptor_track_hidden(const struct perfetto_sink *s, tk_id track) {
  const struct tk_trace *t = s->t;
  if (t->tracks[track].in_packets && s->keeps_packets) return true;
  return t->tracks[track].hidden || t->tracks[t->tracks[track].parent].hidden;
}

/* Returns the number itself if it is in range. Any other id is replaced by a number, and its text becomes the name. */
static int64_t small_id(struct perfetto_sink *s, struct tk_ident i, int64_t least, int64_t most) {
  return ident_is_number(i) && i.num >= least && i.num <= most ? i.num : writer_pid(s);
}

static void descriptors_put_string(struct perfetto_sink *s, struct buf *b, uint32_t field, tk_id id) {
  size_t n;
  const char *p = tk_string(s->t, id, &n);
  pb_bytes(b, field, p, n);
}

static void descriptors_put_name(struct perfetto_sink *s, struct buf *b, uint32_t field, tk_id name, struct tk_ident i,
                                 int64_t written) {
  char text[32];
  if (name) descriptors_put_string(s, b, field, name);
  else if (i.kind == TK_IDENT_STR) descriptors_put_string(s, b, field, i.str);
  else if (ident_is_number(i) && i.num != written && i.num) pb_bytes(b, field, text, num_put_i64(text, i.num));
}

/* Writes a private field with the properties that numeric ids cannot represent. The field is written even if it is empty,
 * because it marks the descriptor as ours; our reader does not pass such descriptors through. */
static void write_private_fields(struct perfetto_sink *s, struct buf *descriptor, uint32_t form, struct tk_ident ident, int64_t written,
                      tk_id machine) {
  struct buf *b = &s->private_fields;
  char text[32];
  b->len = 0;
  if (ident.kind == TK_IDENT_NONE) form |= FORM_ABSENT;
  if (ident.kind == TK_IDENT_QUOTED) form |= FORM_QUOTED;
  if (form) pb_u64(b, TRACK_FORM, form);
  if (ident.kind == TK_IDENT_STR) descriptors_put_string(s, b, TRACK_IDENT, ident.str);
  else if (ident_is_number(ident) && ident.num != written) pb_bytes(b, TRACK_IDENT, text, num_put_i64(text, ident.num));
  if (machine) descriptors_put_string(s, b, TRACK_MACHINE, machine);
  pb_message(descriptor, DESCRIPTOR_TRACEKIT, b);
}

/* Returns FORM_COMPLETE if all spans of the track were complete events, FORM_MIXED if some were, otherwise 0. A descriptor
 * states this form once for all spans of its track. */
uint32_t descriptor_form_of_spans(const struct tk_trace *t, const struct tk_track *k) {
  bool pairs = false, whole = false;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN) continue;
    if (e->flags & TK_FLAG_PAIRED) pairs = true;
    else whole = true;
  }
  return !whole ? 0 : pairs ? FORM_MIXED : FORM_COMPLETE;
}

/* ---- processes and threads ---- */

/* Returns the name of the track's machine; 0 if it is "machine N", which readers use anyway. */
static tk_id machine_name_of(const struct perfetto_sink *s, const struct tk_track *k) {
  char text[32];
  snprintf(text, sizeof text, "machine %u", s->w.machine);
  return strcmp(tk_string(s->t, k->machine, NULL), text) == 0 ? 0 : k->machine;
}

/* Writes the form of the spans of a track that keeps its original descriptor; for our reader. */
static void say_form(struct perfetto_sink *s, tk_id track) {
  struct buf d = {.mem = &s->mem};
  uint32_t form = descriptor_form_of_spans(s->t, &s->t->tracks[track]);
  if (!form) return;
  pb_u64(&d, DESCRIPTOR_UUID, s->uuids[track]);
  s->private_fields.len = 0;
  pb_u64(&s->private_fields, TRACK_FORM, form);
  pb_message(&d, DESCRIPTOR_TRACEKIT, &s->private_fields);
  put_lone_descriptor(s, &d);
  buf_free(&d);
}

static void describe_process(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct buf d = {.mem = &s->mem};
  struct tk_ident pid = k->pid;
  if (passthrough_pid(s, track, &pid.num)) pid.kind = TK_IDENT_INT;
  s->pids[track] = small_id(s, pid, 0, INT32_MAX); /* trace_processor treats pid 0 as the idle process, and names it so */
  if (passthrough_track(s, track).has_uuid) return;
  s->inner.len = 0;
  pb_i64(&s->inner, PROCESS_PID, s->pids[track]);
  descriptors_put_name(s, &s->inner, PROCESS_NAME, k->name, pid, s->pids[track]);
  if (k->labels) descriptors_put_string(s, &s->inner, PROCESS_LABELS, k->labels);
  write_passthrough_fields(s, track, true, &s->inner);
  pb_u64(&d, DESCRIPTOR_UUID, s->uuids[track]);
  pb_message(&d, DESCRIPTOR_PROCESS, &s->inner);
  write_passthrough_fields(s, track, false, &d);
  if (k->has_sort) pb_i64(&d, DESCRIPTOR_SIBLING_ORDER_RANK, k->sort_index);
  write_private_fields(s, &d, 0, pid, s->pids[track], machine_name_of(s, k));
  put_descriptor(s, &d);
  buf_free(&d);
}

static uint64_t thread_key(tk_id process, int64_t tid) { return hash_pair((uint64_t)tid, process); }

/* Returns the tid to write. A missing tid, or 0, is replaced by the pid of the process, as in trace_processor's JSON importer.
 * In process 0, tid 0 would be the idle thread, whose name cannot be changed. */
static int64_t tid_of(struct perfetto_sink *s, const struct tk_track *k) {
  bool zero = k->tid.kind == TK_IDENT_NONE || (ident_is_number(k->tid) && k->tid.num == 0);
  if (!zero) return small_id(s, k->tid, INT32_MIN, INT64_MAX);
  return s->pids[k->parent] ? s->pids[k->parent] : writer_pid(s);
}

static void describe_thread(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct buf d = {.mem = &s->mem};
  if (ident_is_number(k->tid)) map_put(&s->threads, thread_key(k->parent, k->tid.num), track);
  if (ident_is_number(k->tid)) s->tids[track] = k->tid.num;
  if (passthrough_track(s, track).has_uuid) {
    say_form(s, track);
    return;
  }
  int64_t pid = s->pids[k->parent], tid = tid_of(s, k);
  s->tids[track] = tid;
  s->inner.len = 0;
  pb_i64(&s->inner, THREAD_PID, pid);
  pb_i64(&s->inner, THREAD_TID, tid);
  descriptors_put_name(s, &s->inner, THREAD_NAME, k->name, k->tid, tid);
  write_passthrough_fields(s, track, true, &s->inner);
  pb_u64(&d, DESCRIPTOR_UUID, s->uuids[track]);
  pb_u64(&d, DESCRIPTOR_PARENT_UUID, s->uuids[k->parent]);
  pb_message(&d, DESCRIPTOR_THREAD, &s->inner);
  write_passthrough_fields(s, track, false, &d);
  if (k->has_sort) pb_i64(&d, DESCRIPTOR_SIBLING_ORDER_RANK, k->sort_index);
  write_private_fields(s, &d, descriptor_form_of_spans(s->t, k) | (k->no_lanes ? FORM_NO_LANES : 0), k->tid, tid, 0);
  put_descriptor(s, &d);
  buf_free(&d);
}

/* ---- named tracks ---- */

/* True if the original fields of a counter, which are passed through, contain this unit. */
static bool says_unit(const struct buf *fields, const char *unit) {
  struct pb c = pb_over(fields->data, fields->len);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    const char *name = pb_field_key(&f) == PB_KEY(COUNTER_UNIT, PB_VARINT) ? perfetto_unit(f.value) : NULL;
    if (name && strcmp(name, unit) == 0) return true;
  }
  return false;
}

/* Writes into s->private_fields the properties of the track that only this program reads. */
static void put_private_fields(struct perfetto_sink *s, const struct child *c) {
  struct buf *b = &s->private_fields;
  const uint32_t form = c->form | (c->tid.kind == TK_IDENT_QUOTED ? FORM_QUOTED : 0);
  b->len = 0;
  if (form) pb_u64(b, TRACK_FORM, form);
  if (c->series) descriptors_put_string(s, b, TRACK_IDENT, c->series);
  if (c->tid.kind == TK_IDENT_STR) descriptors_put_string(s, b, c->counter ? TRACK_TID_TEXT : TRACK_IDENT, c->tid.str);
  if (ident_is_number(c->tid)) pb_i64(b, TRACK_TID, c->tid.num);
  if (c->process) pb_u64(b, TRACK_PROCESS, c->process);
  if (c->id) pb_bytes(b, TRACK_COUNTER_ID, c->id, c->n_id);
}

/* True if the trace is one part of another one, whose parts may be concatenated. */
static bool is_part(const struct perfetto_sink *s) { return s->sink.graphs <= 1 && trace_cut_of(s->t); }

/* Returns a uuid for a track whose identity has this hash. In a part of a trace, the uuid depends only on the identity, so that all
 * parts describe one track: importers take equal threads with different uuids for different threads. */
static uint64_t uuid_of(struct perfetto_sink *s, uint64_t identity) {
  if (!is_part(s)) return writer_uuid(s);
  uint32_t *used = map_put(&s->part_uuids, identity >> 16, 0);
  return used && !(*used)++ ? identity >> 16 : writer_uuid(s);
}

static uint64_t counter_identity(const struct child *c) {
  return hash_mix(hash_mix(c->parent, c->n ? hash_bytes(c->name, c->n) : 0), c->form << 1 | c->lone);
}

uint64_t descriptor_child(struct perfetto_sink *s, const struct child *c) {
  struct buf d = {.mem = &s->mem};
  const uint64_t uuid = c->counter ? uuid_of(s, counter_identity(c)) : writer_uuid(s);
  pb_u64(&d, DESCRIPTOR_UUID, uuid);
  if (c->parent) pb_u64(&d, DESCRIPTOR_PARENT_UUID, c->parent);
  pb_bytes(&d, DESCRIPTOR_NAME, c->name, c->n);
  if (c->explicit) pb_u64(&d, DESCRIPTOR_CHILD_ORDERING, ORDERING_EXPLICIT);
  if (c->has_rank) pb_i64(&d, DESCRIPTOR_SIBLING_ORDER_RANK, c->rank);
  s->inner.len = 0;
  write_passthrough_fields(s, c->track, true, &s->inner);
  if (c->unit && !says_unit(&s->inner, c->unit)) pb_bytes(&s->inner, COUNTER_UNIT_NAME, c->unit, strlen(c->unit));
  if (c->counter) pb_message(&d, DESCRIPTOR_COUNTER, &s->inner);
  write_passthrough_fields(s, c->track, false, &d);
  put_private_fields(s, c);
  pb_message(&d, DESCRIPTOR_TRACEKIT, &s->private_fields);
  if (c->lone) put_lone_descriptor(s, &d);
  else put_descriptor(s, &d);
  buf_free(&d);
  return uuid;
}

tk_id descriptor_thread_of(const struct perfetto_sink *s, tk_id process, int64_t tid) {
  const uint32_t *at = map_get(&s->threads, thread_key(process, tid));
  const struct tk_track *k = at ? &s->t->tracks[*at] : NULL;
  return k && k->parent == process && k->tid.num == tid ? *at : 0;
}

uint64_t descriptor_thread_uuid(const struct perfetto_sink *s, tk_id process, int64_t tid) {
  const tk_id thread = descriptor_thread_of(s, process, tid);
  return s->uuids[thread ? thread : process];
}

/* Returns the uuid of the track below which a named track is shown. */
static uint64_t parent_of_named(struct perfetto_sink *s, const struct tk_track *k, uint32_t code) {
  const int64_t rest = k->tid.num >> 3;
  size_t n;
  const char *tid = tk_string(s->t, k->tid.str, &n);
  if (code == NAMED_GLOBAL) return 0;
  if (code == NAMED_OF_THREAD) return descriptor_thread_uuid(s, k->parent, rest);
  if (code != NAMED_OF_TRACK || rest < 0 || (size_t)rest >= n) return s->uuids[k->parent];
  const tk_id text = intern_id(&s->t->store->strings, tid, (size_t)rest);
  const uint32_t *up = text ? map_get(&s->named, (uint64_t)k->parent << 32 | text) : NULL;
  return s->uuids[up ? *up : k->parent];
}

/* Describes a named track. Must be called after its parent was described. */
static void describe_named(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const uint32_t code = (uint32_t)((uint64_t)k->tid.num % NAMED_CODES);
  struct child c = {.form = descriptor_form_of_spans(s->t, k), .track = track, .has_rank = k->has_sort, .rank = k->sort_index};
  c.name = tk_string(s->t, k->name ? k->name : k->tid.str, &c.n);
  struct kept_track kept = passthrough_track(s, track);
  uint32_t *slot = map_put(&s->named, (uint64_t)k->parent << 32 | k->tid.str, track);
  if (slot) *slot = track;
  if (code == NAMED_IS_PROCESS) s->own_tids[k->parent] = k->tid.str;
  if (kept.has_uuid) {
    s->uuids[track] = kept.uuid;
    say_form(s, track);
    return;
  }
  if (code == NAMED_IS_PROCESS) {
    s->uuids[track] = s->uuids[k->parent];
    return;
  }
  c.parent = parent_of_named(s, k, code);
  if (kept.has_parent) c.parent = kept.parent;
  s->uuids[track] = descriptor_child(s, &c);
}

/* ---- entry points ---- */

static void add_clock(struct perfetto_sink *s, struct buf *snapshot, uint32_t id, int64_t ns) {
  s->inner.len = 0;
  pb_u64(&s->inner, CLOCK_ID, id);
  pb_u64(&s->inner, CLOCK_TIMESTAMP, (uint64_t)ns);
  pb_message(snapshot, SNAPSHOT_CLOCKS, &s->inner);
}

/* Writes a snapshot at time 0 with the REALTIME reading and, if the trace clock is not BOOTTIME, the trace clock. Omits readings that
 * are contained in passthrough data. */
static void write_clocks(struct perfetto_sink *s, const struct tk_trace *t) {
  struct buf snapshot = {.mem = &s->mem};
  bool real = t->clock == TK_CLOCK_REALTIME && !s->has_realtime, unsaid = s->clock != CLOCK_BOOTTIME && !s->has_clocks;
  if (!real && !unsaid) return;
  add_clock(s, &snapshot, s->clock, 0);
  if (real && s->clock != CLOCK_REALTIME) add_clock(s, &snapshot, CLOCK_REALTIME, s->zero_ns);
  if (unsaid) pb_u64(&snapshot, SNAPSHOT_PRIMARY_CLOCK, s->clock);
  s->packet.len = 0;
  pb_message(&s->packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
  if (s->w.machine) pb_u64(&s->packet, PACKET_MACHINE_ID, s->w.machine);
  writer_packet(s->out, &s->packet);
  buf_free(&snapshot);
}

/* Keeps the uuids of tracks from the input. New uuids are chosen from a range that contains none of these. */
static void keep_uuids(struct perfetto_sink *s) {
  static const uint64_t ROOM = 1ull << 32;
  const struct tk_trace *t = s->t;
  uint64_t *taken = mem_array(&s->mem, (uint64_t)t->n_tracks + 1, sizeof *taken), n = 0;
  for (tk_id i = 1; taken && i <= t->n_tracks; i++) {
    struct kept_track kept = passthrough_track(s, i);
    if (!kept.has_uuid || descriptor_track_hidden(s, i)) continue;
    s->uuids[i] = taken[n++] = kept.uuid;
  }
  if (n) qsort(taken, n, sizeof *taken, order_uint64);
  for (uint64_t i = 0; i < n; i++)
    if (taken[i] >= s->last_uuid && taken[i] - s->last_uuid <= ROOM) s->last_uuid = taken[i];
  s->keeps_tracks = n != 0;
  mem_free(&s->mem, taken);
}

static uint64_t ident_hash(const struct tk_trace *t, struct tk_ident i) {
  const struct intern_str *text = trace_str(t, i.str);
  return i.kind == TK_IDENT_STR ? hash_bytes(text->bytes, text->len) : (uint64_t)i.num;
}

/* Returns a uuid for a process or thread, whose identity is its ids and its machine. */
static uint64_t uuid_of_track(struct perfetto_sink *s, tk_id track) {
  const struct tk_trace *t = s->t;
  const struct tk_track *k = &t->tracks[track];
  const struct intern_str *machine = trace_str(t, k->machine);
  const uint64_t thread = k->kind == TK_TRACK_THREAD ? hash_mix(ident_hash(t, k->tid), 1) : 0;
  const uint64_t of_machine = k->machine ? hash_bytes(machine->bytes, machine->len) : 0;
  return uuid_of(s, hash_mix(hash_mix(ident_hash(t, k->pid), thread), of_machine));
}

/* Assigns uuids to the processes to describe. A process is not described if it only stands for tracks without a process. A process
 * without a descriptor in a Perfetto input is described only if it has children to be written. */
static void find_processes(struct perfetto_sink *s) {
  const struct tk_trace *t = s->t;
  uint8_t *needed = mem_zeros(&s->mem, (uint64_t)t->n_tracks + 1, 1);
  for (tk_id i = 1; needed && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    bool said = !s->keeps_tracks || k->name || k->labels || k->machine;
    if (k->kind == TK_TRACK_PROCESS && (k->count || (k->pid.kind != TK_IDENT_NONE && said))) needed[i] = 1;
    if (!k->parent || k->hidden || track_is_named(k) || (k->kind == TK_TRACK_COUNTERS && k->renamed)) continue;
    if (!passthrough_track(s, i).has_uuid) needed[k->parent] = 1;
  }
  for (tk_id i = 1; needed && i <= t->n_tracks; i++) {
    const bool is_hidden = descriptor_track_hidden(s, i) && !passthrough_lacks_name(s, i);
    if (needed[i] && !is_hidden && !s->uuids[i]) s->uuids[i] = uuid_of_track(s, i);
  }
  mem_free(&s->mem, needed);
}

/* True if the graph has sort indices. They only have an effect if the root track enables them
 * (TrackDescriptor.process_ordering, thread_ordering; v58 and later). */
static bool is_sorted(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].has_sort && t->tracks[i].kind <= TK_TRACK_THREAD) return true;
  return false;
}

static void describe_order(struct perfetto_sink *s) {
  struct buf d = {.mem = &s->mem};
  pb_u64(&d, DESCRIPTOR_UUID, 0);
  pb_u64(&d, DESCRIPTOR_PROCESS_ORDERING, 1);
  pb_u64(&d, DESCRIPTOR_THREAD_ORDERING, 1);
  put_descriptor(s, &d);
  buf_free(&d);
}

/* Switches to the track's machine. On the first switch to a machine, writes the data that each machine has once. */
static void switch_machine(struct perfetto_sink *s, tk_id track, bool sorted) {
  if (!machine_of_writer(s, track)) return;
  if (sorted) describe_order(s);
  if (s->w.machine) write_clocks(s, s->t);
}

/* Names the machines of a graph whose packets are passed through, because descriptors of other programs do not name them; for our
 * reader. */
static void name_machines(struct perfetto_sink *s, bool sorted) {
  const struct tk_trace *t = s->t;
  struct buf d = {.mem = &s->mem};
  struct map done;
  map_init(&done, &s->mem);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || !k->machine || map_get(&done, k->machine)) continue;
    map_put(&done, k->machine, 1);
    switch_machine(s, i, sorted);
    d.len = s->private_fields.len = 0;
    descriptors_put_string(s, &s->private_fields, TRACK_MACHINE, k->machine);
    pb_message(&d, DESCRIPTOR_TRACEKIT, &s->private_fields);
    put_lone_descriptor(s, &d);
  }
  map_free(&done);
  buf_free(&d);
}

void descriptor_tracks(struct perfetto_sink *s) {
  const struct tk_trace *t = s->t;
  const bool states_order = s->is_valid && passthrough_find(t, PASSTHROUGH_DESCRIPTORS);
  const bool sorted = !states_order && is_sorted(t);
  for (tk_id i = 1; i <= t->n_tracks; i++) s->uuids[i] = 0;
  keep_uuids(s);
  find_processes(s);
  if (s->sink.graphs > 1 && s->keeps_packets) name_machines(s, sorted);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (!s->uuids[i] || t->tracks[i].kind != TK_TRACK_PROCESS) continue;
    switch_machine(s, i, sorted);
    describe_process(s, i);
  }
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (t->tracks[i].kind != TK_TRACK_THREAD || descriptor_track_hidden(s, i) || track_is_named(&t->tracks[i])) continue;
    if (!s->uuids[i]) s->uuids[i] = uuid_of_track(s, i);
    switch_machine(s, i, sorted);
    describe_thread(s, i);
  }
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (!track_is_named(&t->tracks[i]) || descriptor_track_hidden(s, i)) continue;
    switch_machine(s, i, sorted);
    describe_named(s, i);
  }
}

/* ---- the trace ---- */

void write_attribute(struct perfetto_sink *s, const char *key, const char *text, size_t n) {
  struct buf attribute = {.mem = &s->mem};
  s->inner.len = s->packet.len = 0;
  pb_bytes(&s->inner, ATTRIBUTE_KEY, key, strlen(key));
  pb_bytes(&s->inner, ATTRIBUTE_STRING, text, n);
  pb_message(&attribute, ATTRIBUTES_ATTRIBUTE, &s->inner);
  pb_message(&s->packet, PACKET_TRACE_ATTRIBUTES, &attribute);
  writer_packet(s->out, &s->packet);
  buf_free(&attribute);
}

/* Writes the extension descriptors of a graph whose other descriptors are not kept. */
static void descriptor_extensions(struct perfetto_sink *s, const struct tk_trace *t) {
  if (t->edits & TK_EDIT_DROPPED && !extension_in_use(t, &s->mem)) return;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (!passthrough_is(t, m, PASSTHROUGH_EXTENSIONS)) continue;
    s->packet.len = 0;
    pb_bytes(&s->packet, PACKET_EXTENSION_DESCRIPTOR, trace_raw(t, m->at), (size_t)m->size);
    writer_packet(s->out, &s->packet);
  }
}

void descriptor_trace(struct perfetto_sink *s, const struct tk_trace *t) {
  s->at_first = true;
  passthrough_first(s, t);
  if (s->sink.graphs <= 1) descriptor_graph(s, t);
  if (!s->waits_for_clocks) write_clocks(s, t);
}

void descriptor_graph(struct perfetto_sink *s, const struct tk_trace *t) {
  passthrough_next(s, t);
  if (!s->is_valid && !s->drops_extensions) descriptor_extensions(s, t);
  write_descriptors(s, t, false);
  write_passthrough(s, t);
  if (s->waits_for_clocks && s->sink.ordinal == 0) write_clocks(s, t);
  if (s->sink.ordinal == 0) s->waits_for_clocks = false;
}

/* Writes top-level data of JSON as attributes "json.KEY", with the values as text. They are written at the end because they may be
 * long, and formats are detected by the start of a file. */
void descriptor_metas(struct perfetto_sink *s, const struct tk_trace *t) {
  if (s->sink.graphs <= 1) write_descriptors(s, t, true);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    const char *key = tk_string(t, m->key, NULL);
    const bool is_clock = t->has_zero && t->zero_ns != 0 && strcmp(key, "baseTimeNanoseconds") == 0; /* written as a snapshot */
    if (m->origin || is_clock || strcmp(key, "tracekit") == 0) continue;
    s->text.len = 0;
    buf_append(&s->text, m->after ? "json.after." : "json.", m->after ? 11 : 5);
    if (!buf_append(&s->text, key, strlen(key) + 1)) return;
    write_attribute(s, (const char *)s->text.data, trace_raw(t, m->at), (size_t)m->size);
  }
}
