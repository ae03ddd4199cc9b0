/* flow.c - writes flow points, as one of two stats.
 *
 *     stat "flow" (XFlow)     of the event to which a point is bound; only its first flow, which xprof draws
 *     stat "tracekit.flows"   of the plane: all points that were separate events, with time, role and id
 *
 * Events that were read from XPlane have the stats that link them as args and need neither of these, unless an operation
 * dropped the args. */
#include <string.h>

#include "flow.h"
#include "format/json_args.h"
#include "writer.h"
#include "private.h"

/* ---- the stat "flow" ---- */

enum { LINKS = 4 };
struct link_keys {
  tk_id keys[LINKS];
};

static struct link_keys link_keys_of(const struct tk_trace *t) {
  static const char *const NAMES[LINKS] = {"flow", "_p", "_c", "correlation_id"};
  struct link_keys k;
  for (unsigned i = 0; i < LINKS; i++) k.keys[i] = xplane_find_text(t, NAMES[i], strlen(NAMES[i]));
  return k;
}

/* True if an event that was read from XPlane has args that link it. */
static bool has_link(const struct tk_trace *t, const struct link_keys *k, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    for (unsigned i = 0; i < LINKS; i++)
      if (arg.key == k->keys[i]) return true;
  return false;
}

/* True if the args of the event define its flows. This is the case for events from an XSpace, even if another format embedded
 * it. */
static bool is_linked(const struct xplane_graph *g, const struct link_keys *k, tk_id event) {
  const struct tk_event *e = &g->t->events[event];
  const enum xplane_origin origin = xplane_origin_of(g, xplane_process(g->t, e->track));
  return origin != XPLANE_NEW && (origin == XPLANE_ADOPTED || !g->converted) && has_link(g->t, k, e->args);
}

/* Returns the XFlow category of a flow. xprof draws "gpu_launch" flows from a call to the work that it launched. */
static uint64_t category_of(const struct tk_trace *t, const struct tk_flow_point *f) {
  static const char *const LAUNCHES[] = {"ac2g", "async", "async_gpu", "async_cpu_to_gpu"};
  enum { GPU_LAUNCH = 9, CATEGORY_AT = 58 };
  const char *cat = tk_string(t, t->classes[f->cls].cat, NULL);
  for (size_t i = 0; i < sizeof LAUNCHES / sizeof *LAUNCHES; i++)
    if (strcmp(cat, LAUNCHES[i]) == 0) return (uint64_t)GPU_LAUNCH << CATEGORY_AT;
  return 0;
}

/* Sets the stat "flow" of an event: id and direction of its first flow. */
static void link_event(struct xplane_graph *g, const struct tk_flow_point *f, uint32_t id) {
  static const uint8_t DIRECTIONS[] = {
      [TK_FLOW_START] = 2, [TK_FLOW_STEP] = 3, [TK_FLOW_END] = 1, [TK_FLOW_OUT] = 2, [TK_FLOW_IN] = 1, [TK_FLOW_INOUT] = 3};
  static const uint64_t ID_BITS = ((uint64_t)1 << 58) - 4;
  uint64_t *at = &g->flows[f->at], value = (uint64_t)id << 2 | DIRECTIONS[f->role];
  if (f->role < TK_FLOW_OUT) value |= XPLANE_FLOW_STATED | category_of(g->t, f);
  if (!*at) *at = value;
  else if ((*at & ID_BITS) == (value & ID_BITS)) *at |= value;
  else g->lost_points += f->role >= TK_FLOW_OUT;
}

int64_t xplane_link_events(struct xplane_graph *g, int64_t next, uint32_t step, struct mem *mem) {
  const struct tk_trace *t = g->t;
  const struct link_keys links = link_keys_of(t);
  const bool by_args = g->planes && !g->converted;
  struct map ids;
  if (t->n_flow_points == 0 || (by_args && !(t->edits & TK_EDIT_DROPPED))) return next;
  g->flows = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *g->flows);
  if (!g->flows) return next;
  map_init(&ids, mem);
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (!f->bound || is_linked(g, &links, f->at)) continue;
    uint32_t *id = map_put(&ids, hash_pair((uint64_t)f->id, (uint64_t)f->cls << 1 | (f->id_kind == TK_FLOW_ID_STR)), 0);
    if (!id) break;
    if (!*id) *id = (uint32_t)next, next += step;
    link_event(g, f, *id);
  }
  map_free(&ids);
  return next;
}

/* ---- the stat "tracekit.flows" ---- */

static void put_point(struct xplane_encoder *e, struct buf *b, const struct tk_flow_point *f, const struct tk_track *k) {
  const struct tk_trace *t = e->g->t;
  i128 ts = f->ts + ((i128)t->origin_ns - e->g->base_ns) * 1000;
  xplane_member_number(b, "{\"role\":", f->role);
  xplane_member_number(b, ",\"ts\":", (int64_t)ts);
  xplane_member_ident(e, b, ",\"tid\":", k->tid);
  xplane_member_string(e, b, ",\"name\":", t->classes[f->cls].name);
  xplane_member_string(e, b, ",\"cat\":", t->classes[f->cls].cat);
  if (f->id_kind == TK_FLOW_ID_STR) xplane_member_string(e, b, ",\"id\":", (tk_id)f->id);
  else xplane_member_number(b, ",\"id\":", f->id);
  if (f->enclosing) buf_text(b, ",\"enclosing\":true");
  if (f->args) {
    buf_text(b, ",\"args\":");
    json_put_args(b, t, f->args);
  }
  buf_text(b, "}");
}

/* True if the private stats of the point's process contain the point. */
static bool is_stated(const struct tk_trace *t, const struct tk_flow_point *f, tk_id process) {
  const struct tk_track *k = &t->tracks[tk_flow_point_track(t, f)];
  return f->role < TK_FLOW_OUT && k->kind == TK_TRACK_THREAD && k->parent == process;
}

bool xplane_put_flow_points(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = "[";
  uint32_t n;
  const uint32_t *points = by_process(&e->g->points, e->process, &n);
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_flow_point *f = &t->flow_points[points[i]];
    if (!is_stated(t, f, e->process)) continue;
    buf_text(b, sep);
    put_point(e, b, f, &t->tracks[tk_flow_point_track(t, f)]);
    sep = ",";
  }
  if (*sep == '[') return false;
  buf_text(b, "]");
  return true;
}

/* ---- losses ---- */

void xplane_count_flow_points(struct sink *sink, const struct xplane_graph *g) {
  const struct tk_trace *t = g->t;
  const struct link_keys links = link_keys_of(t);
  uint64_t lost = g->lost_points;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    const tk_id process = xplane_process(t, tk_flow_point_track(t, f));
    if (f->bound && ((g->flows && g->flows[f->at]) || is_linked(g, &links, f->at))) continue;
    if (xplane_is_private(g, process)) lost += !is_stated(t, f, process);
    else lost += !f->bound || t->edits & TK_EDIT_DROPPED;
  }
  sink_lose(sink, TK_LOSS_FLOW_POINTS, lost);
  sink->saved.flow_points += t->n_flow_points - lost;
}
