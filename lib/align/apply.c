/* apply.c - moves the events of a graph by a clock map. The start and the end of every span are mapped separately, so order and
 * nesting survive. */
#include <math.h>

#include "base/err.h"
#include "graph/seal.h"
#include "apply.h"

bool align_is_constant(const struct align_map *m) { return m->curve.n < 2; }

int64_t align_offset(const struct align_map *m, int64_t reading_ns) {
  return m->offset_ns + llround(curve_at(&m->curve, (double)(reading_ns - m->pivot_ns)));
}

static void warp_events(struct tk_trace *t, const struct warp *s) {
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    const tk_time from = warp_time(s, e->ts), to = warp_time(s, e->ts + e->dur);
    e->ts = from;
    if (e->kind == TK_EVENT_SPAN) e->dur = to - from;
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) t->flow_points[i].ts = warp_time(s, t->flow_points[i].ts);
  for (tk_id i = 1; i <= t->n_records; i++)
    if (t->records[i].has_ts) t->records[i].ts = warp_time(s, t->records[i].ts);
}

bool align_apply(struct tk_trace *t, const struct align_map *m, int64_t later_ns, struct tk_err *err) {
  struct warp s = {.curve = m->curve, .level = m->curve.n ? (double)llround(m->curve.y[0]) : 0};
  i128 origin = (i128)t->origin_ns + later_ns, moved = origin - m->offset_ns - (int64_t)s.level, far = (origin - m->pivot_ns) * 1000;
  if (moved > INT64_MAX || moved < INT64_MIN || far > INT64_MAX || far < INT64_MIN)
    return err_set(err, TK_ELIMIT, "aligned times exceed the range of 64 bits");
  t->origin_ns = (int64_t)moved;
  t->edits |= TK_EDIT_MOVED;
  if (align_is_constant(m)) return true;
  s.to_pivot_ps = (int64_t)far;
  trace_mark_stretched(t, &s);
  warp_events(t, &s);
  return seal_order_flows(t) || mem_refuse(&t->store->mem, err);
}
