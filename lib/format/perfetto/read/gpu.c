/* gpu.c - reads GpuRenderStageEvents: each packet is a span on a hardware queue of a GPU.
 *
 * Mesa, Android's drivers, ROCm and Perfetto's own GPU data sources write GPU work in this form rather than as TrackEvents.
 * Each GPU becomes a process such as "GPU 0", and each queue a thread of this process. trace_processor skips work on queues
 * that the file does not describe; here the name of such a queue is its id, and a note reports it. The packets are also passed
 * through: Perfetto output of an unedited trace contains the original packets; otherwise it contains the spans as TrackEvents
 * (tk_track.in_packets).
 *
 * Names are the same as in trace_processor (gpu_event_parser.cc): the event's own name, otherwise the name of its stage. */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "graph/args.h"
#include "inspect.h"
#include "machine.h"
#include "sequence.h"
#include "procs.h"
#include "track.h"

enum { GPU_NAMES_MOST = 4096 };

struct gpu_stage {
  uint64_t id, duration, queue_id, stage_id, queue_iid, stage_iid, name_iid, context;
  uint32_t number, submission;
  bool has_id, has_queue_iid, has_stage_iid, has_context, has_submission;
  struct pb_field name, launch;
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
    case PB_KEY(GPU_EVENT_ID, PB_VARINT):
      g->id = f.value;
      g->has_id = true;
      break;
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
    case PB_KEY(GPU_CONTEXT, PB_VARINT):
      g->context = f.value;
      g->has_context = true;
      break;
    case PB_KEY(GPU_SUBMISSION, PB_VARINT):
      g->submission = (uint32_t)f.value;
      g->has_submission = true;
      break;
    case PB_KEY(GPU_NAME, PB_BYTES): g->name = f; break;
    case PB_KEY(GPU_NAME_IID, PB_VARINT): g->name_iid = f.value; break;
    case PB_KEY(GPU_LAUNCH, PB_BYTES): g->launch = f; break;
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
  if (g->has_stage_iid) return sequence_text(r, q, IID_GPU, g->stage_iid);
  return numbered(r, &r->gpu_stages, g->stage_id, "render stage(%llu)");
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

static tk_id add_queue(struct perfetto *r, const struct packet *k, const struct gpu_stage *g, tk_id queue) {
  const tk_id gpu = gpu_process(r, k->machine, g->number);
  const tk_id track = trace_track(r->t, TK_TRACK_THREAD, r->t->tracks[gpu].pid, ident_str(queue), queue);
  r->t->tracks[track].in_packets = true;
  return track;
}

/* Returns the node that represents a queue. */
static uint32_t node_of(struct perfetto *r, const struct packet *k, const struct gpu_stage *g, tk_id queue) {
  const uint64_t key = hash_pair((uint64_t)k->machine << 32 | g->number, queue);
  uint32_t *slot = map_put(&r->gpu_nodes, key, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct node n = {.machine = k->machine, .kind = NODE_NAMED, .described = true, .has_slices = true, .has_events = true, .name = queue};
  n.tracks[ON_TRACK] = add_queue(r, k, g, queue);
  return *slot = track_add_node(r, n);
}

/* ---- args ---- */

static void put_dimension(struct perfetto *r, const char *key, const struct pb_field *field) {
  static const char *const AXES[] = {"", "x", "y", "z"};
  struct pb c = pb_inside(field);
  struct pb_field f;
  char text[32];
  while (pb_next(&c, &f)) {
    if (f.wire != PB_VARINT || f.number < 1 || f.number > 3) continue;
    snprintf(text, sizeof text, "%s.%s", key, AXES[f.number]);
    args_uint(r->t, trace_text(r->t, text), TK_ARG_UINT, f.value);
  }
}

static void put_launch(struct perfetto *r, const struct pb_field *launch) {
  struct pb c = pb_inside(launch);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH_GRID, PB_BYTES)) put_dimension(r, "launch.grid_size", &f);
    if (pb_field_key(&f) == PB_KEY(GPU_LAUNCH_BLOCK, PB_BYTES)) put_dimension(r, "launch.workgroup_size", &f);
  }
}

/* True if the text is an integer as it would be printed. Extra data has only texts, but producers store numbers in it, such as the
 * correlation that the work has in common with its launch. */
static bool is_integer(const struct pb_field *text, int64_t *value) {
  char copy[32] = {0}, printed[32];
  const uint8_t *end;
  if (text->value == 0 || text->value >= sizeof copy - 1) return false;
  memcpy(copy, text->p, (size_t)text->value);
  const struct num number = num_scan((const uint8_t *)copy, &end);
  *value = number.mant;
  return number.kind == NUM_INT && num_put_i64(printed, number.mant) == text->value && memcmp(printed, copy, (size_t)text->value) == 0;
}

static void put_extra(struct perfetto *r, const struct pb_field *field) {
  struct pb c = pb_inside(field);
  struct pb_field f, name = {0}, value = {.p = (const uint8_t *)""};
  int64_t number;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA_VALUE, PB_BYTES)) value = f;
  }
  if (!name.p) return;
  const tk_id key = perfetto_field_text(r, &name);
  if (!r->filed && is_integer(&value, &number)) args_int(r->t, key, number);
  else args_str(r->t, key, TK_ARG_STR, perfetto_field_text(r, &value));
}

static uint32_t args_of(struct perfetto *r, const struct packet *k, const struct gpu_stage *g) {
  struct tk_trace *t = r->t;
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  args_begin(t);
  args_uint(t, trace_text(t, "device"), TK_ARG_UINT, g->number);
  if (g->has_context) args_uint(t, trace_text(t, "context_id"), TK_ARG_UINT, g->context);
  if (g->has_submission) args_uint(t, trace_text(t, "submission_id"), TK_ARG_UINT, g->submission);
  if (g->launch.p) put_launch(r, &g->launch);
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(GPU_EXTRA, PB_BYTES)) put_extra(r, &f);
  return args_end(t);
}

bool perfetto_gpu_stage(struct perfetto *r, struct sequence *q, const struct packet *k) {
  struct gpu_stage g = {0};
  struct proc_time at;
  if (!read_fields(r, &k->content, &g) || !g.has_id || !proc_packet_time(r, q, k, &at)) return false;
  const tk_id queue = queue_name(r, q, &g), name = stage_name(r, q, &g);
  const uint32_t node = node_of(r, k, &g, queue);
  if (!node) return false;
  const struct tk_event event = {.ts = at.ns,
                                 .dur = g.duration > INT64_MAX ? INT64_MAX : (tk_time)g.duration,
                                 .kind = TK_EVENT_SPAN,
                                 .cls = trace_class(r->t, name, trace_text(r->t, "gpu_render_stage")),
                                 .args = args_of(r, k, &g),
                                 .track = node * ASPECTS + ON_TRACK};
  *trace_add_event(r->t) = event;
  if (at.pending) perfetto_add_pending(r, (struct pending_time){at.pending, r->t->n_events, false});
  r->t->counts.by_phase['X']++;
  r->t->counts.read++;
  return true;
}
