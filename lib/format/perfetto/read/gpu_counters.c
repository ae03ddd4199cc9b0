/* gpu_counters.c - reads GpuCounterEvent, GpuMemTotalEvent and VulkanApiEvent.
 *
 * The id of a counter is valid in its sequence, or in the descriptor that the sequence interned. trace_processor treats ids
 * that are not interned as valid in the whole trace, and so mixes the samples of two GPUs. Here, other sequences are only
 * searched if the counter's own sequence does not define the id.
 *
 * Unless the counter's descriptor states otherwise, the value of a sample applies to the time before it. Such a value is
 * therefore stored at the time of the previous sample, and the last sample has the value 0, as in trace_processor
 * (gpu_event_parser.cc). */
#include "gpu_counters.h"
#include "gpu_flows.h"

#include <stdio.h>

#include "counters.h"
#include "gpu.h"
#include "graph/args.h"
#include "procs.h"
#include "track.h"

struct gpu_counter {
  uint32_t node;
  tk_id last; /* event id of its last sample; 0 = none */
  bool forwards;
};

/* Returns the key of a counter. Clearing a sequence only invalidates ids that it interned. */
static uint64_t key_of(const struct sequence *q, uint64_t iid, uint64_t id) {
  return hash_pair(hash_pair(q->key, iid ? hash_pair(iid, q->n_clearings) : 0), id);
}

static uint64_t key_anywhere(const struct packet *k, uint64_t id) {
  return hash_pair(hash_pair((uint64_t)k->machine << 32 | UINT32_MAX, 0), id);
}

static struct gpu_counter *find(struct perfetto *r, uint64_t key) {
  const uint32_t *slot = map_get(&r->gpu_counters.index, key);
  return slot ? &r->gpu_counters.of[*slot - 1] : NULL;
}

/* ---- descriptors ---- */

struct specification {
  uint64_t id, direction;
  struct pb_field name;
  bool has_id;
};

static struct specification read_specification(const struct pb_field *field) {
  struct specification s = {.id = 0};
  struct pb c = pb_inside(field);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_SPEC_ID, PB_VARINT)) s.id = f.value, s.has_id = true;
    if (pb_field_key(&f) == PB_KEY(GPU_SPEC_NAME, PB_BYTES)) s.name = f;
    if (pb_field_key(&f) == PB_KEY(GPU_SPEC_DIRECTION, PB_VARINT)) s.direction = f.value;
  }
  return s;
}

/* Returns the node of the counter with this name, which several ids may share. */
static uint32_t node_of(struct perfetto *r, uint32_t machine, uint32_t gpu, tk_id name) {
  const tk_id process = gpu_process(r, machine, gpu);
  uint32_t *slot = map_put(&r->gpu_nodes, hash_pair((uint64_t)TK_TRACK_COUNTERS << 32 | process, name), 0);
  if (!slot || *slot) return slot ? *slot : 0;
  const tk_id track = trace_track(r->t, TK_TRACK_COUNTERS, r->t->tracks[process].pid, ident_none(), name);
  r->t->tracks[track].in_packets = r->t->tracks[track].renamed = true;
  struct node n = {.machine = machine, .kind = NODE_COUNTER, .described = true, .in_packets = true, .name = name, .counter_name = name};
  n.tracks[ON_COUNTER] = track;
  return *slot = track_add_node(r, n);
}

static void add_counter(struct perfetto *r, uint64_t key, uint32_t node, bool forwards) {
  struct gpu_counters *all = &r->gpu_counters;
  uint32_t *slot = map_put(&all->index, key, 0);
  if (!slot || *slot || !mem_grow(&r->t->store->mem, (void **)&all->of, &all->cap, (uint64_t)all->n + 1, sizeof *all->of)) return;
  all->of[all->n] = (struct gpu_counter){.node = node, .forwards = forwards};
  *slot = ++all->n;
}

/* Description of counters: a field of an event, or interned data with an id. */
struct gpu_descriptor {
  struct pb_field field;
  uint64_t iid;
  uint32_t gpu;
};

static void read_descriptor(struct perfetto *r, const struct sequence *q, const struct packet *k, const struct gpu_descriptor *d) {
  struct pb c = pb_inside(&d->field);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(GPU_DESCRIPTOR_SPEC, PB_BYTES)) continue;
    const struct specification s = read_specification(&f);
    if (!s.has_id || !s.name.p) continue;
    const uint32_t node = node_of(r, k->machine, d->gpu, perfetto_field_text(r, &s.name));
    if (node) add_counter(r, key_of(q, d->iid, s.id), node, s.direction == GPU_FORWARDS);
    if (node && !d->iid) add_counter(r, key_anywhere(k, s.id), node, s.direction == GPU_FORWARDS);
  }
}

void gpu_counters_intern(struct perfetto *r, const struct sequence *q, const struct packet *k) {
  struct pb c = pb_inside(&k->interned), in;
  struct pb_field entry, f;
  while (pb_next(&c, &entry)) {
    if (pb_field_key(&entry) != PB_KEY(INTERNED_GPU_COUNTERS, PB_BYTES)) continue;
    struct gpu_descriptor d = {.iid = 0};
    for (in = pb_inside(&entry); pb_next(&in, &f);) {
      if (pb_field_key(&f) == PB_KEY(GPU_INTERNED_IID, PB_VARINT)) d.iid = f.value;
      if (pb_field_key(&f) == PB_KEY(GPU_INTERNED_DESCRIPTOR, PB_BYTES)) d.field = f;
      if (pb_field_key(&f) == PB_KEY(GPU_INTERNED_GPU, PB_VARINT)) d.gpu = (uint32_t)f.value;
    }
    if (d.iid && d.field.p) read_descriptor(r, q, k, &d);
  }
}

/* ---- samples ---- */

struct gpu_sample {
  uint64_t id;
  struct tk_arg value; /* type NULL: no value */
};

static struct gpu_sample read_sample(const struct pb_field *field) {
  struct gpu_sample s = {.value = {.type = TK_ARG_NULL}};
  struct pb c = pb_inside(field);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_SAMPLE_ID, PB_VARINT)) s.id = f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_SAMPLE_INT, PB_VARINT)) s.value = (struct tk_arg){.type = TK_ARG_INT, .i = (int64_t)f.value};
    if (pb_field_key(&f) == PB_KEY(GPU_SAMPLE_DOUBLE, PB_FIXED64))
      s.value = (struct tk_arg){.type = TK_ARG_DOUBLE, .d = pb_as_double(f.value)};
  }
  return s;
}

static void set_value(struct perfetto *r, tk_id event, struct tk_arg value) {
  value.key = KEY_COUNTER_VALUE;
  args_begin(r->t);
  args_copy(r->t, &value);
  r->t->events[event].args = args_end(r->t);
}

static void add_sample(struct perfetto *r, struct gpu_counter *c, struct proc_time at, struct tk_arg value) {
  struct counter_sample sample = {.node = c->node, .pending = at.pending, .ns = at.ns, .value = value};
  if (!c->forwards) sample.value = (struct tk_arg){.type = value.type};
  perfetto_sample(r, &sample);
  r->t->counts.read++;
  if (!c->forwards && c->last) set_value(r, c->last, value);
  c->last = r->t->n_events;
}

static struct gpu_counter *counter_of(struct perfetto *r, const struct sequence *q, const struct packet *k, uint64_t iid, uint64_t id) {
  struct gpu_counter *c = find(r, key_of(q, iid, id));
  return c || iid ? c : find(r, key_anywhere(k, id));
}

bool gpu_counters_read(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct pb c = pb_inside(&k->content);
  struct gpu_descriptor d = {.iid = 0};
  struct pb_field f;
  struct proc_time at;
  uint64_t iid = 0, unknown = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_COUNTER_DESCRIPTOR, PB_BYTES)) d.field = f;
    if (pb_field_key(&f) == PB_KEY(GPU_COUNTER_GPU, PB_VARINT)) d.gpu = (uint32_t)f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_COUNTER_IID, PB_VARINT)) iid = f.value;
  }
  if (d.field.p) read_descriptor(r, q, k, &d);
  if (!proc_packet_time(r, q, k, &at)) return d.field.p != NULL;
  for (c = pb_inside(&k->content); pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(GPU_COUNTER_SAMPLE, PB_BYTES)) continue;
    const struct gpu_sample s = read_sample(&f);
    struct gpu_counter *counter = counter_of(r, q, k, iid, s.id);
    if (counter && s.value.type != TK_ARG_NULL) add_sample(r, counter, at, s.value);
    else unknown++;
  }
  const char *note = "samples of GPU counters that nothing describes: kept only in Perfetto output";
  if (unknown) trace_notes(r->t, TK_NOTE_REPAIR, r->offset, note, unknown);
  return true;
}

/* ---- memory ---- */

bool gpu_memory_read(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  struct proc_time at;
  uint64_t gpu = 0, pid = 0, size = 0;
  char text[64] = "GPU Memory";
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_MEMORY_GPU, PB_VARINT)) gpu = f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_MEMORY_PID, PB_VARINT)) pid = f.value;
    if (pb_field_key(&f) == PB_KEY(GPU_MEMORY_SIZE, PB_VARINT)) size = f.value;
  }
  if (!proc_packet_time(r, q, k, &at)) return false;
  if (gpu && pid) snprintf(text, sizeof text, "GPU Memory (GPU %u)", (unsigned)gpu);
  const tk_id name = trace_text(r->t, text);
  const uint32_t node = !pid ? node_of(r, k->machine, (uint32_t)gpu, name)
    : proc_counter(r, k->machine, proc_process(r, k->machine, (uint32_t)pid), name, trace_text(r->t, "bytes"));
  if (node) proc_sample(r, node, at, (int64_t)size);
  return node != 0;
}

/* ---- submissions ---- */

static uint32_t args_of_submit(struct perfetto *r, const struct pb_field *submit) {
  struct tk_trace *t = r->t;
  struct pb c = pb_inside(submit);
  struct pb_field f;
  char key[40];
  unsigned n = 0;
  args_begin(t);
  while (pb_next(&c, &f)) {
    if (f.wire != PB_VARINT) continue;
    if (f.number == SUBMIT_ID) args_uint(t, trace_text(t, "submission_id"), TK_ARG_UINT, f.value);
    if (f.number == SUBMIT_QUEUE) args_uint(t, trace_text(t, "vk_queue"), TK_ARG_UINT, f.value);
    if (f.number != SUBMIT_BUFFER) continue;
    snprintf(key, sizeof key, "command_buffers[%u]", n++);
    args_uint(t, trace_text(t, key), TK_ARG_UINT, f.value);
  }
  return args_end(t);
}

/* Returns the track for the submissions of a thread. They have a separate track because they need not nest with the thread's
 * other spans. */
static uint32_t submit_node(struct perfetto *r, uint32_t machine, int64_t pid, int64_t tid) {
  const uint32_t thread = proc_thread(r, machine, tid, pid);
  uint32_t *slot = map_put(&r->gpu_nodes, hash_pair((uint64_t)TK_TRACK_THREAD << 32 | thread, VULKAN_SUBMIT), 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct node n = {.machine = machine, .kind = NODE_NAMED, .described = true, .in_packets = true, .up = thread};
  n.name = trace_text(r->t, "Vulkan Events");
  n.has_slices = true;
  return *slot = track_add_node(r, n);
}

bool gpu_submit_read(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct pb c = pb_inside(&k->content);
  struct pb_field submit, f;
  struct proc_time at;
  uint64_t pid = 0, tid = 0, duration = 0, submission = 0;
  if (!pb_next(&c, &submit) || pb_field_key(&submit) != PB_KEY(VULKAN_SUBMIT, PB_BYTES)) return false;
  for (c = pb_inside(&submit); pb_next(&c, &f);) {
    if (pb_field_key(&f) == PB_KEY(SUBMIT_PID, PB_VARINT)) pid = f.value;
    if (pb_field_key(&f) == PB_KEY(SUBMIT_TID, PB_VARINT)) tid = f.value;
    if (pb_field_key(&f) == PB_KEY(SUBMIT_DURATION, PB_VARINT)) duration = f.value;
    if (pb_field_key(&f) == PB_KEY(SUBMIT_ID, PB_VARINT)) submission = f.value;
  }
  if (!proc_packet_time(r, q, k, &at)) return false;
  const uint32_t node = submit_node(r, k->machine, (uint32_t)pid, (uint32_t)tid), args = args_of_submit(r, &submit);
  if (!node) return false;
  const tk_id cls = trace_class(r->t, trace_text(r->t, "vkQueueSubmit"), 0);
  struct tk_event *e = proc_event(r, node, ON_TRACK, at);
  e->kind = TK_EVENT_SPAN;
  e->dur = duration > INT64_MAX ? INT64_MAX : (tk_time)duration;
  e->cls = cls;
  e->args = args;
  r->t->counts.by_phase['X']++;
  gpu_flows_of_submit(r, k->machine, submission);
  return true;
}
