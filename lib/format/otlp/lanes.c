/* lanes.c - see lanes.h.
 *
 * Takes the spans of a process in order of their start. A lane is busy until its outermost span ends; a span that cannot be inside its
 * parent gets the free lane with the lowest number. */
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"

/* A span that is open on a lane. */
struct open_child {
  tk_time end;
  uint32_t span;
};

struct otlp_lane {
  tk_id track;
  struct open_child *open; /* from the outermost to the innermost */
  uint32_t n, cap;
};

struct lanes_of {
  struct tk_trace *t;
  struct mem *mem;
  struct otlp_span *spans;
  struct otlp_lane *v; /* lanes of the current process */
  uint32_t n, cap;
  struct heap busy, free; /* by the end of the outermost span; by number */
  uint32_t *lane_of;      /* by span: its lane, plus 1; 0 = none yet */
  uint32_t n_flows;
};

/* ---- order ---- */

/* A span with what determines its place in the order. */
struct ordered {
  tk_id process;
  tk_time start, end;
  uint32_t depth, span;
};

static tk_time end_of(const struct tk_event *e) { return e->kind == TK_EVENT_SPAN ? e->ts + e->dur : INT64_MAX; }

/* Orders by process and start. Of spans that start together, the longer one comes first, then the ancestor. */
static int ordered_compare(const void *p, const void *q) {
  const struct ordered *a = p, *b = q;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->end != b->end) return a->end > b->end ? -1 : 1;
  if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
  return a->span < b->span ? -1 : a->span > b->span;
}

/* Sets the depth of a span and of its ancestors. Ancestors that form a circle in a damaged file get some depth. */
static void find_depth(struct otlp_span *spans, uint32_t n, uint32_t i) {
  uint32_t steps = 0, at = i;
  while (at != OTLP_ROOT && spans[at].depth == UINT32_MAX && steps < n) at = spans[at].parent, steps++;
  uint32_t depth = (at == OTLP_ROOT || spans[at].depth == UINT32_MAX ? 0 : spans[at].depth + 1) + steps;
  for (at = i; steps-- > 0; at = spans[at].parent) spans[at].depth = --depth;
}

static struct ordered *order_spans(struct lanes_of *l, uint32_t n) {
  struct ordered *order = mem_array(l->mem, (uint64_t)n + 1, sizeof *order);
  for (uint32_t i = 0; i < n; i++) l->spans[i].depth = UINT32_MAX;
  for (uint32_t i = 0; i < n; i++) find_depth(l->spans, n, i);
  for (uint32_t i = 0; order && i < n; i++) {
    const struct tk_event *e = &l->spans[i].e;
    order[i] = (struct ordered){e->track, e->ts, end_of(e), l->spans[i].depth, i};
  }
  if (order) qsort(order, n, sizeof *order, ordered_compare);
  return order;
}

/* ---- lanes ---- */

static void forget_lanes(struct lanes_of *l) {
  for (uint32_t i = 0; i < l->n; i++) mem_free(l->mem, l->v[i].open);
  l->n = l->busy.n = l->free.n = 0;
}

static struct otlp_lane *add_lane(struct lanes_of *l, tk_id process) {
  char name[32];
  if (!mem_grow(l->mem, (void **)&l->v, &l->cap, (uint64_t)l->n + 1, sizeof *l->v)) return NULL;
  const uint32_t number = ++l->n;
  const tk_id track = trace_track(l->t, TK_TRACK_THREAD, l->t->tracks[process].pid, ident_int(number), 0);
  snprintf(name, sizeof name, "lane %u", number);
  l->t->tracks[track].name = trace_text(l->t, name);
  l->t->tracks[track].renamed = true; /* no record contains the name, so writers must write it */
  l->v[number - 1] = (struct otlp_lane){.track = track};
  return &l->v[number - 1];
}

/* Returns the free lane with the lowest number, adding one if necessary. */
static struct otlp_lane *free_lane(struct lanes_of *l, const struct ordered *o) {
  while (l->busy.n && l->busy.items[0].time <= o->start) {
    const uint64_t number = heap_pop(&l->busy);
    l->v[number].n = 0;
    heap_push(&l->free, (struct heap_item){.time = (int64_t)number, .value = number});
  }
  struct otlp_lane *lane = l->free.n ? &l->v[heap_pop(&l->free)] : add_lane(l, o->process);
  if (lane) heap_push(&l->busy, (struct heap_item){.time = o->end, .value = (uint64_t)(lane - l->v)});
  return lane;
}

/* Returns the lane of the parent if the parent is the innermost open span there, and contains the span. */
static struct otlp_lane *lane_of_parent(struct lanes_of *l, const struct ordered *o) {
  const uint32_t parent = l->spans[o->span].parent;
  if (parent == OTLP_ROOT || !l->lane_of[parent] || l->spans[parent].e.track != o->process) return NULL;
  struct otlp_lane *lane = &l->v[l->lane_of[parent] - 1];
  while (lane->n && lane->open[lane->n - 1].end <= o->start && lane->open[lane->n - 1].span != parent) lane->n--;
  const struct open_child *top = lane->n ? &lane->open[lane->n - 1] : NULL;
  return top && top->span == parent && top->end > o->start && top->end >= o->end ? lane : NULL;
}

static void add_flow(struct lanes_of *l, const struct otlp_span *from, const struct otlp_span *to) {
  const struct tk_event *a = &from->e, *b = &to->e;
  const tk_id cls = trace_class(l->t, trace_text(l->t, "child"), 0);
  if (b->ts < a->ts) return; /* clocks of two hosts that differ: a flow cannot lead back in time */
  const struct tk_flow_point out = {.id = ++l->n_flows, .cls = cls, .at = from->event, .role = TK_FLOW_START, .bound = true,
                                    .ts = a->ts};
  const struct tk_flow_point in = {.id = l->n_flows, .cls = cls, .at = to->event, .role = TK_FLOW_END, .enclosing = true,
                                   .bound = true, .ts = b->ts};
  *trace_add_flow_point(l->t) = out;
  *trace_add_flow_point(l->t) = in;
}

static void place_span(struct lanes_of *l, const struct ordered *o) {
  struct otlp_span *span = &l->spans[o->span];
  struct otlp_lane *lane = lane_of_parent(l, o);
  span->is_apart = !lane;
  if (!lane) lane = free_lane(l, o);
  if (!lane || !mem_grow(l->mem, (void **)&lane->open, &lane->cap, (uint64_t)lane->n + 1, sizeof *lane->open)) return;
  lane->open[lane->n++] = (struct open_child){o->end, o->span};
  l->lane_of[o->span] = (uint32_t)(lane - l->v) + 1;
  struct tk_event *e = trace_add_event(l->t);
  *e = span->e;
  e->track = lane->track;
  span->event = l->t->n_events;
}

void otlp_arrange(struct tk_trace *t, struct otlp_span *spans, uint32_t n) {
  struct mem *mem = &t->store->mem;
  struct lanes_of l = {.t = t, .mem = mem, .spans = spans, .busy = {.mem = mem}, .free = {.mem = mem}};
  struct ordered *order = order_spans(&l, n);
  l.lane_of = mem_zeros(mem, (uint64_t)n + 1, sizeof *l.lane_of);
  for (uint32_t i = 0; order && l.lane_of && i < n; i++) {
    if (i && order[i].process != order[i - 1].process) forget_lanes(&l);
    place_span(&l, &order[i]);
  }
  for (uint32_t i = 0; i < n; i++)
    if (spans[i].event && spans[i].is_apart && spans[i].parent != OTLP_ROOT) add_flow(&l, &spans[spans[i].parent], &spans[i]);
  forget_lanes(&l);
  heap_free(&l.busy);
  heap_free(&l.free);
  mem_free(mem, l.v);
  mem_free(mem, l.lane_of);
  mem_free(mem, order);
}
