/* gpu_flows.c - see gpu_flows.h.
 *
 *     submit (submission_id 7)                              --->  stage (submission_id 7)
 *     stage (event_id 1)                                    --->  stage (event_wait_ids 1)
 *     track event (render_stage_submission_event_ids 1)     --->  stage (event_id 1)
 *     stage (event_id 1)                                    --->  track event (render_stage_wait_event_ids 1)
 *
 * Importers show all but the first kind (gpu_tracker.cc). If several events have the same number, the source of an arrow is the last of
 * them before the target. */
#include "gpu_flows.h"

#include <stdlib.h>

#include "base/hash.h"
#include "format/perfetto/gpu_flows.h"
#include "format/perfetto/head.h"

enum link_side { SOURCE, TARGET };

struct gpu_link {
  uint64_t key; /* machine and number */
  uint64_t time;
  tk_id event;
  uint8_t kind, side; /* enum gpu_flow, enum link_side */
};

/* An arrow of a flow. */
struct gpu_arrow {
  uint32_t kind;
  tk_id source, target;
};

/* Notes that an event is one side of a flow. */
static void add_link(struct perfetto *r, uint64_t key, enum gpu_flow kind, enum link_side side, tk_id event) {
  const struct gpu_link l = {.key = key, .event = event, .kind = (uint8_t)kind, .side = (uint8_t)side};
  buf_append(&r->gpu_links, &l, sizeof l);
}

void gpu_flows_of_stage(struct perfetto *r, const struct packet *k) {
  struct pb c = pb_inside(&k->content);
  struct pb_field f;
  const tk_id event = r->t->n_events;
  while (pb_next(&c, &f)) {
    const uint64_t key = hash_pair(k->machine, f.value);
    if (pb_field_key(&f) == PB_KEY(GPU_EVENT_ID, PB_VARINT)) add_link(r, key, GPU_FLOW_WAIT, SOURCE, event);
    if (pb_field_key(&f) == PB_KEY(GPU_WAIT_IDS, PB_VARINT)) add_link(r, key, GPU_FLOW_WAIT, TARGET, event);
    if (pb_field_key(&f) == PB_KEY(GPU_SUBMISSION, PB_VARINT) && f.value) add_link(r, key, GPU_FLOW_SUBMISSION, TARGET, event);
  }
}

void gpu_flows_of_submit(struct perfetto *r, uint32_t machine, uint64_t submission) {
  if (submission) add_link(r, hash_pair(machine, submission), GPU_FLOW_SUBMISSION, SOURCE, r->t->n_events);
}

void gpu_flows_of_event(struct perfetto *r, const struct packet *k, tk_id event) {
  struct pb c = pb_over(r->fields.data, r->fields.len);
  struct pb_field field, f;
  while (pb_next(&c, &field)) {
    if (pb_field_key(&field) != PB_KEY(EVENT_GPU_CORRELATION, PB_BYTES)) continue;
    for (struct pb in = pb_inside(&field); pb_next(&in, &f);) {
      const uint64_t key = hash_pair(k->machine, f.value);
      if (pb_field_key(&f) == PB_KEY(GPU_CORRELATION_SUBMITS, PB_VARINT)) add_link(r, key, GPU_FLOW_HOST, SOURCE, event);
      if (pb_field_key(&f) == PB_KEY(GPU_CORRELATION_WAITS, PB_VARINT)) add_link(r, key, GPU_FLOW_HOST_WAIT, TARGET, event);
    }
  }
}

static int by_number_and_time(const void *pa, const void *pb) {
  const struct gpu_link *a = pa, *b = pb;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->side != b->side) return a->side < b->side ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

static void add_point(struct perfetto *r, tk_id event, enum tk_flow_role role, int64_t id, tk_id cls) {
  struct tk_flow_point *f = trace_add_flow_point(r->t);
  *f = (struct tk_flow_point){.ts = r->t->events[event].ts, .id = id, .cls = cls, .at = event, .role = (uint8_t)role, .bound = true};
  f->id_kind = TK_FLOW_ID_INT;
}

/* Appends the arrows between the links v[0, n), which have the same number. */
static void find_arrows(const struct gpu_link *v, size_t n, struct buf *arrows) {
  const struct gpu_link *source = NULL;
  for (size_t i = 0; i < n && !source; i++)
    if (v[i].side == SOURCE) source = &v[i];
  for (size_t i = 0; source && i < n; i++) {
    if (v[i].side == SOURCE) source = &v[i];
    const struct gpu_arrow a = {v[i].kind, source->event, v[i].event};
    if (a.target != a.source) buf_append(arrows, &a, sizeof a);
  }
}

static int by_source(const void *pa, const void *pb) {
  const struct gpu_arrow *a = pa, *b = pb;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return (a->target > b->target) - (a->target < b->target);
}

/* Adds a flow for each source, with all of its targets. */
static void add_flows(struct perfetto *r, const struct gpu_arrow *v, size_t n) {
  int64_t id = 0;
  for (size_t i = 0; i < n; i++) {
    const bool begins = i == 0 || v[i].kind != v[i - 1].kind || v[i].source != v[i - 1].source;
    const tk_id name = trace_text(r->t, GPU_FLOW_NAMES[v[i].kind]);
    const tk_id cls = trace_class(r->t, name, trace_text(r->t, GPU_FLOW_CATEGORY));
    if (begins) add_point(r, v[i].source, TK_FLOW_START, ++id, cls);
    add_point(r, v[i].target, TK_FLOW_END, id, cls);
  }
}

/* Adds the stages to the flows of track events, if there are any. */
static void add_host_links(struct perfetto *r) {
  const size_t n = r->gpu_links.len / sizeof(struct gpu_link);
  bool any = false;
  for (size_t i = 0; i < n; i++) any = any || ((struct gpu_link *)(void *)r->gpu_links.data)[i].kind >= GPU_FLOW_HOST;
  for (size_t i = 0; any && i < n; i++) {
    struct gpu_link l = ((struct gpu_link *)(void *)r->gpu_links.data)[i];
    if (l.kind != GPU_FLOW_WAIT || l.side != SOURCE) continue;
    l.kind = GPU_FLOW_HOST_WAIT;
    buf_append(&r->gpu_links, &l, sizeof l);
    l.kind = GPU_FLOW_HOST;
    l.side = TARGET;
    buf_append(&r->gpu_links, &l, sizeof l);
  }
}

void gpu_flows_finish(struct perfetto *r) {
  struct buf arrows = {.mem = r->gpu_links.mem};
  add_host_links(r);
  struct gpu_link *v = (struct gpu_link *)(void *)r->gpu_links.data;
  const size_t n = r->gpu_links.len / sizeof *v;
  for (size_t i = 0; i < n; i++) v[i].time = (uint64_t)r->t->events[v[i].event].ts ^ 1ull << 63;
  if (n) qsort(v, n, sizeof *v, by_number_and_time);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && v[end].kind == v[i].kind && v[end].key == v[i].key;) end++;
    find_arrows(v + i, end - i, &arrows);
  }
  struct gpu_arrow *a = (struct gpu_arrow *)(void *)arrows.data;
  const size_t n_arrows = arrows.len / sizeof *a;
  if (n_arrows) qsort(a, n_arrows, sizeof *a, by_source);
  add_flows(r, a, n_arrows);
  buf_free(&arrows);
}
