/* gpu.c - reads GpuRenderStageEvents: each packet is a span on a hardware queue of a GPU.
 *
 * Mesa, Android's drivers, ROCm and Perfetto's own GPU data sources write GPU work in this form rather than as TrackEvents. Each GPU
 * becomes a process such as "GPU 0", and each queue a thread of this process. trace_processor skips work on queues that the file does
 * not describe; here the name of such a queue is its id, and a note reports it. The packets are also passed through: Perfetto output of
 * an unedited trace contains the original packets; otherwise it contains the spans as TrackEvents (tk_track.in_packets).
 *
 * A span gets the name of its event; if that is missing, the name of its kernel, or else of its stage. trace_processor stores the
 * kernel's name as an arg (gpu_event_parser.cc), and its viewer shows it as the name of the span. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "format/perfetto/head.h"
#include "gpu_args.h"
#include "gpu_flows.h"
#include "gpu_memory.h"
#include "graph/accelerator.h"
#include "inspect.h"
#include "machine.h"
#include "sequence.h"
#include "procs.h"
#include "track.h"

enum { GPU_NAMES_MOST = 4096 };

struct gpu_stage {
  uint64_t duration, queue_id, stage_id, queue_iid, stage_iid, name_iid, kernel_iid;
  uint32_t number;
  bool has_id, has_queue_iid, has_stage_iid;
  struct pb_field name;
};

/* ---- queues and stages that are not interned ---- */

static void add_name(struct perfetto *r, struct gpu_names *names, const struct pb_field *description) {
  struct pb c = pb_inside(description);
  struct pb_field f;
  tk_id name = 0;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(GPU_DESCRIPTION_NAME, PB_BYTES)) name = perfetto_field_text(r, &f);
  if (names->n >= GPU_NAMES_MOST) return;
  if (!mem_grow(&r->t->store->mem, (void **)&names->ids, &names->cap, (uint64_t)names->n + 1, sizeof *names->ids)) return;
  names->ids[names->n++] = name;
}

static void read_specifications(struct perfetto *r, const struct pb_field *field) {
  struct pb c = pb_inside(field);
  struct pb_field f;
  r->gpu_queues.n = r->gpu_stages.n = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_SPECIFICATIONS_QUEUE, PB_BYTES)) add_name(r, &r->gpu_queues, &f);
    if (pb_field_key(&f) == PB_KEY(GPU_SPECIFICATIONS_STAGE, PB_BYTES)) add_name(r, &r->gpu_stages, &f);
  }
}

static tk_id numbered(struct perfetto *r, const struct gpu_names *names, uint64_t number, const char *otherwise) {
  char text[64];
  if (number < names->n && names->ids[number]) return names->ids[number];
  return trace_string(r->t, text, (size_t)snprintf(text, sizeof text, otherwise, (unsigned long long)number));
}

/* ---- the event ---- */

static bool read_fields(struct perfetto *r, const struct pb_field *field, struct gpu_stage *g) {
  struct pb c = pb_inside(field);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(GPU_EVENT_ID, PB_VARINT): g->has_id = true; break;
    case PB_KEY(GPU_DURATION, PB_VARINT): g->duration = f.value; break;
    case PB_KEY(GPU_QUEUE_ID, PB_VARINT): g->queue_id = f.value; break;
    case PB_KEY(GPU_STAGE_ID, PB_VARINT): g->stage_id = f.value; break;
    case PB_KEY(GPU_NUMBER, PB_VARINT): g->number = (uint32_t)f.value; break;
    case PB_KEY(GPU_QUEUE_IID, PB_VARINT):
      g->queue_iid = f.value;
      g->has_queue_iid = true;
      break;
    case PB_KEY(GPU_STAGE_IID, PB_VARINT):
      g->stage_iid = f.value;
      g->has_stage_iid = true;
      break;
    case PB_KEY(GPU_NAME, PB_BYTES): g->name = f; break;
    case PB_KEY(GPU_NAME_IID, PB_VARINT): g->name_iid = f.value; break;
    case PB_KEY(GPU_KERNEL_IID, PB_VARINT): g->kernel_iid = f.value; break;
    case PB_KEY(GPU_SPECIFICATIONS, PB_BYTES): read_specifications(r, &f); break;
    default: break;
    }
  }
  return !c.fault;
}

static tk_id queue_name(struct perfetto *r, struct sequence *q, const struct gpu_stage *g) {
  if (g->has_queue_iid) return sequence_text(r, q, IID_GPU, g->queue_iid);
  return numbered(r, &r->gpu_queues, g->queue_id, "Unknown GPU Queue %llu");
}

static tk_id stage_name(struct perfetto *r, struct sequence *q, const struct gpu_stage *g) {
  if (g->name.p) return perfetto_field_text(r, &g->name);
  if (g->name_iid) return sequence_text(r, q, IID_NAME, g->name_iid);
  const tk_id kernel = gpu_args_kernel_name(r, q, g->kernel_iid);
  if (kernel) return kernel;
  if (g->has_stage_iid) return sequence_text(r, q, IID_GPU, g->stage_iid);
  return numbered(r, &r->gpu_stages, g->stage_id, "render stage(%llu)");
}

/* Returns the category: for copies and fills, the one that PyTorch's JSON has for them. */
static tk_id stage_category(struct perfetto *r, const struct sequence *q, const struct gpu_stage *g) {
  static const char *const NAMES[] = {ACCELERATOR_RENDER_STAGE, "gpu_memcpy", "gpu_memset"};
  return trace_text(r->t, NAMES[g->has_stage_iid ? sequence_find(q, IID_STAGE, g->stage_iid) : GPU_COMPUTES]);
}

tk_id gpu_process(struct perfetto *r, uint32_t machine, uint32_t number) {
  struct tk_trace *t = r->t;
  char text[64];
  int n = snprintf(text, sizeof text, "GPU %u", number);
  const tk_id name = trace_string(t, text, (size_t)n);
  if (machine) n += snprintf(text + n, sizeof text - (size_t)n, " (machine %u)", machine);
  const tk_id gpu = trace_process(t, ident_str(trace_string(t, text, (size_t)n)));
  t->tracks[gpu].name = name;
  t->tracks[gpu].in_packets = true;
  map_put(&r->gpu_machines, gpu, machine);
  return gpu;
}

void gpu_name_machines(struct perfetto *r) {
  for (tk_id i = 1; i <= r->t->n_tracks; i++) {
    const uint32_t *machine = map_get(&r->gpu_machines, i);
    if (machine) r->t->tracks[i].machine = machine_name(r, *machine);
  }
}

static tk_id add_queue(struct perfetto *r, uint32_t machine, uint32_t number, tk_id queue) {
  const tk_id gpu = gpu_process(r, machine, number);
  const tk_id track = trace_track(r->t, TK_TRACK_THREAD, r->t->tracks[gpu].pid, ident_str(queue), queue);
  r->t->tracks[track].in_packets = true;
  return track;
}

/* Returns the node that represents a queue. */
static uint32_t node_of(struct perfetto *r, uint32_t machine, uint32_t number, tk_id queue) {
  const uint64_t key = hash_pair((uint64_t)machine << 32 | number, queue);
  uint32_t *slot = map_put(&r->gpu_nodes, key, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct node n = {.machine = machine, .kind = NODE_NAMED, .described = true, .has_slices = true, .has_events = true, .name = queue};
  n.tracks[ON_TRACK] = add_queue(r, machine, number, queue);
  return *slot = track_add_node(r, n);
}

/* A span on a queue. */
struct gpu_span {
  tk_id name, cat;
  uint64_t duration;
  uint32_t node, args;
};

static bool add_queue_span(struct perfetto *r, const struct gpu_span *s, struct proc_time at) {
  const struct tk_event event = {.ts = at.ns,
                                 .dur = s->duration > INT64_MAX ? INT64_MAX : (tk_time)s->duration,
                                 .kind = TK_EVENT_SPAN,
                                 .cls = trace_class(r->t, s->name, s->cat),
                                 .args = s->args,
                                 .track = s->node * ASPECTS + ON_TRACK};
  if (!s->node) return false;
  *trace_add_event(r->t) = event;
  if (at.pending) perfetto_add_pending(r, (struct pending_time){at.pending, r->t->n_events, false});
  r->t->counts.by_phase['X']++;
  r->t->counts.read++;
  return true;
}

/* Adds the process of the stage's context, so that a merge can name it, even if no packet describes the process. */
static void add_process(struct perfetto *r, const struct sequence *q, const struct packet *k) {
  const tk_id context = sequence_find(q, IID_CONTEXT, head_number(&k->content, GPU_CONTEXT, 0));
  const uint32_t node = context ? proc_process(r, k->machine, (int64_t)context - 1) : 0;
  if (node) r->nodes[node].is_of_gpu = true;
}

bool perfetto_gpu_stage(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct gpu_stage g = {0};
  struct proc_time at;
  if (!read_fields(r, &k->content, &g) || !g.has_id || !proc_packet_time(r, q, k, &at)) return false;
  const tk_id queue = queue_name(r, q, &g);
  struct gpu_span span = {.name = stage_name(r, q, &g), .duration = g.duration};
  span.cat = stage_category(r, q, &g);
  span.node = node_of(r, k->machine, g.number, queue);
  span.args = gpu_args_of(r, q, k);
  if (!add_queue_span(r, &span, at)) return false;
  add_process(r, q, k);
  gpu_flows_of_stage(r, k);
  return true;
}

static tk_id annotation_name(struct perfetto *r, struct sequence *q, const struct pb_field *note) {
  const uint64_t iid = head_number(note, GPU_NOTE_NAME_IID, 0);
  if (iid) return sequence_text(r, q, IID_NAME, iid);
  const struct pb_field name = pb_find(note, GPU_NOTE_NAME);
  return perfetto_field_text(r, &name);
}

bool gpu_annotation(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const struct pb_field *note = &k->content;
  const uint64_t iid = head_number(note, GPU_NOTE_QUEUE_IID, 0);
  struct proc_time at;
  if (!proc_packet_time(r, q, k, &at)) return false;
  const tk_id queue = iid ? sequence_text(r, q, IID_GPU, iid) : trace_text(r->t, "Annotations");
  struct gpu_span span = {.name = annotation_name(r, q, note), .duration = head_number(note, GPU_NOTE_DURATION, 0)};
  span.cat = trace_text(r->t, "gpu_user_annotation");
  span.node = node_of(r, k->machine, (uint32_t)head_number(note, GPU_NOTE_GPU, 0), queue);
  span.args = gpu_args_of_annotation(r, q, k);
  return add_queue_span(r, &span, at);
}
