/* flows.c - lists the flows of a graph.
 *
 * In Perfetto, a flow is a chain of events with the same id, so each connection between two events gets a separate id: from a
 * start (or the last step) to each end. */
#include <stdlib.h>
#include <string.h>

#include "flows.h"
#include "base/keyed.h"
#include "format/perfetto/gpu_flows.h"
#include "graph/chain.h"
#include "writer.h"

static void mark_event(struct event_writer *w, tk_id event) {
  if (w->has_flows) w->has_flows[event >> 3] |= (uint8_t)(1 << (event & 7));
}

static void add_flow_end(struct event_writer *w, struct flow_end a) {
  mark_event(w, a.event);
  w->has_ends = w->has_ends || a.at_end;
  if (!mem_grow(w->mem, (void **)&w->flow_ends, &w->cap_flow_ends, (uint64_t)w->n_flow_ends + 1, sizeof a)) return;
  w->flow_ends[w->n_flow_ends++] = a;
}

/* True if viewers place event a before b. At equal times they use file order: the order in which tracks are written, then the
 * order of the track's events. */
static bool stands_before(const struct tk_trace *t, tk_id a, tk_id b) {
  tk_id of_a = t->events[a].track, of_b = t->events[b].track;
  unsigned place = writer_place_of(&t->tracks[of_a]), other = writer_place_of(&t->tracks[of_b]);
  if (place != other) return place < other;
  return of_a != of_b ? of_a < of_b : a < b;
}

/* Adds a flow, which leaves at the start of its span. If the target has begun before that time, the flow arrives at the target's end.
 * If such a target never ends, its begin event gets the id, and viewers draw the flow from the span that began first, as they do with
 * JSON. Returns false if no viewer would show the flow, because its target precedes its source at the same time and does not end
 * later. */
static bool add_flow(struct event_writer *w, tk_id from, const struct tk_flow_point *f, uint64_t id) {
  const struct tk_event *a = &w->t->events[from], *b = &w->t->events[f->at];
  int64_t leaves = writer_ns(w, a->ts), begins = writer_ns(w, b->ts);
  bool full = f->role < TK_FLOW_OUT, ends = !(b->flags & TK_FLAG_UNFINISHED), tie = leaves == begins;
  bool begun = tie ? from != f->at && stands_before(w->t, f->at, from) : begins < leaves;
  if (tie && begun && (!ends || writer_ns(w, b->ts + b->dur) == begins)) return false;
  add_flow_end(w, (struct flow_end){from, false, false, full, id});
  add_flow_end(w, (struct flow_end){f->at, begun && ends, !begun || ends, full, id});
  return true;
}

/* True for a point from a Perfetto input. The chain of such a point keeps its id, because the reader stored the points unchanged, bound
 * to the begin and end events of spans. */
static bool is_chain(const struct tk_trace *t, const struct tk_flow_point *f) {
  return f->role >= TK_FLOW_OUT && f->enclosing && f->bound && was_perfetto(t);
}

static void link_of_chain(struct event_writer *w, const struct tk_flow_point *f) {
  const struct tk_event *e = &w->t->events[f->at];
  bool at_end = e->dur > 0 && f->ts == e->ts + e->dur - 1;
  add_flow_end(w, (struct flow_end){f->at, at_end, f->role == TK_FLOW_IN, false, (uint64_t)f->id});
}

/* Use of flow ids: the id's class, whether one of its points is a start, and whether one is a step or an end. Producers number
 * ids consecutively, so most are in an array: a hash table took 9% of the time to write 1 GB. */
struct uses {
  uint32_t *few; /* for ids below n: their use; 0 = unused */
  uint64_t n;
  struct map others;
};

static uint32_t *uses_of(struct uses *u, const struct tk_flow_point *f, bool put) {
  const uint64_t id = (uint64_t)f->id;
  if (f->id_kind == TK_FLOW_ID_STR || f->id <= 0) return NULL;
  if (id >= u->n) return put ? map_put(&u->others, id, f->cls << 2) : map_get(&u->others, id);
  if (put && !u->few[id]) u->few[id] = f->cls << 2;
  return u->few[id] ? &u->few[id] : NULL;
}

/* Finds ids that only one flow uses. Such a flow keeps its id, so its points need not store the id. */
static void count_uses(const struct tk_trace *t, struct uses *u, struct mem *mem) {
  map_init(&u->others, mem);
  u->n = (uint64_t)t->n_flow_points * 4 + 1;
  u->few = mem_zeros(mem, u->n, sizeof *u->few);
  for (tk_id i = 1; u->few && i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    const bool start = f->role == TK_FLOW_START;
    uint32_t *uses = uses_of(u, f, true);
    if (!uses) continue;
    if (f->role >= TK_FLOW_OUT || *uses >> 2 != (f->cls & UINT32_MAX >> 2) || *uses & (start ? 1 : 2)) *uses = UINT32_MAX;
    else *uses |= start ? 1 : 2;
  }
}

static bool is_alone(struct uses *u, const struct tk_flow_point *f, uint64_t least) {
  const uint32_t *uses = f->id < 0 || (uint64_t)f->id < least ? NULL : uses_of(u, f, false);
  return uses && *uses != UINT32_MAX;
}

/* Moves *next_id, the next new id, beyond all flow ids of the trace. If there is not enough room above them, a new id may
 * collide with one of them. */
static void pass_ids(const struct tk_trace *t, uint32_t step, uint64_t *next_id) {
  uint64_t most = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (f->id_kind != TK_FLOW_ID_STR && f->id >= 0 && (uint64_t)f->id > most) most = (uint64_t)f->id;
  }
  if (most >= *next_id && most < UINT64_MAX / 2) *next_id += (most - *next_id) / step * step + step;
}

static int by_event(const void *a, const void *b) {
  const struct flow_end *x = a, *y = b;
  if (x->event != y->event) return x->event < y->event ? -1 : 1;
  return x->id != y->id ? (x->id < y->id ? -1 : 1) : x->terminating - y->terminating;
}

/* Sorts flow ends by event; each event has only a few. */
static void sort_flow_ends(struct event_writer *w) {
  const uint32_t n = w->n_flow_ends;
  struct flow_end *sorted = mem_array(w->mem, (uint64_t)n + 1, sizeof *sorted);
  uint32_t *first = mem_zeros(w->mem, (uint64_t)w->t->n_events + 2, sizeof *first); /* by event: index of its first flow end */
  if (!sorted || !first) {
    mem_free(w->mem, sorted);
    return mem_free(w->mem, first);
  }
  for (uint32_t i = 0; i < n; i++) first[w->flow_ends[i].event + 1]++;
  for (tk_id i = 1; i <= w->t->n_events + 1; i++) first[i] += first[i - 1];
  for (uint32_t i = 0; i < n; i++) sorted[first[w->flow_ends[i].event]++] = w->flow_ends[i];
  for (uint32_t from = 0, to; from < n; from = to) {
    to = first[sorted[from].event];
    if (to - from > 1) qsort(sorted + from, to - from, sizeof *sorted, by_event);
  }
  mem_free(w->mem, first);
  mem_free(w->mem, w->flow_ends);
  w->flow_ends = sorted;
  w->cap_flow_ends = n + 1;
}

/* Marks the classes of flows that are stated by packets that are passed through. Returns NULL if there are none, or when memory runs
 * out. */
static uint8_t *classes_in_packets(const struct event_writer *w) {
  const struct tk_trace *t = w->t;
  uint8_t *v = w->has_packets ? mem_zeros(w->mem, (uint64_t)t->n_classes + 1, 1) : NULL;
  for (tk_id i = 1; v && i <= t->n_classes; i++) {
    if (strcmp(tk_string(t, t->classes[i].cat, NULL), GPU_FLOW_CATEGORY) != 0) continue;
    for (int k = 0; k < GPU_FLOWS; k++) v[i] = v[i] || strcmp(tk_string(t, t->classes[i].name, NULL), GPU_FLOW_NAMES[k]) == 0;
  }
  return v;
}

static bool is_in_packets(const struct event_writer *w, const struct tk_flow_point *f) {
  return w->in_packets && f->bound && w->in_packets[f->cls];
}

/* Collects points that were separate events (s, t, f in JSON), because a TrackEvent has no field for their name, id and
 * time. */
static void collect_points(struct event_writer *w) {
  const struct tk_trace *t = w->t;
  uint64_t n = 0;
  size_t size = (size_t)t->n_events / 8 + 1;
  if (t->n_flow_points) w->has_flows = mem_alloc(w->mem, size);
  if (w->has_flows) memset(w->has_flows, 0, size);
  for (tk_id i = 1; i <= t->n_flow_points; i++) n += t->flow_points[i].bound && t->flow_points[i].role < TK_FLOW_OUT;
  w->points = mem_array(w->mem, (uint64_t)n + 1, sizeof *w->points);
  if (!w->points) return;
  w->n_points = 0;
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].bound && t->flow_points[i].role < TK_FLOW_OUT && !is_in_packets(w, &t->flow_points[i])) {
      mark_event(w, t->flow_points[i].at);
      w->points[w->n_points++] = i;
    }
}

/* Sorts the collected points by event. */
static void sort_points(struct event_writer *w) {
  const uint32_t n = w->n_points;
  struct keyed *v = mem_array(w->mem, (uint64_t)n + 1, sizeof *v), *spare = mem_array(w->mem, (uint64_t)n + 1, sizeof *spare);
  if (v && spare && w->points) {
    for (uint32_t i = 0; i < n; i++) v[i] = (struct keyed){w->t->flow_points[w->points[i]].at, w->points[i]};
    const struct keyed *sorted = keyed_sort(v, spare, n);
    for (uint32_t i = 0; i < n; i++) w->points[i] = sorted[i].index;
  }
  mem_free(w->mem, v);
  mem_free(w->mem, spare);
}

/* Current source of each chain, and the starts from which no flow has been drawn yet. */
struct sources {
  struct chains at; /* last point of each chain */
  uint8_t *loose;   /* by point: 1 = a start from which no flow has been drawn yet, and which is lost without a flow */
  uint64_t lost;
};

/* True if the point is in the output only as part of a flow. Points that were separate events are args of their event (collect_points),
 * and points that are not bound to an event are events of their own. */
static bool needs_flow(const struct tk_flow_point *f) { return f->bound && f->role >= TK_FLOW_OUT; }

static void follow_flow(struct event_writer *w, struct sources *s, tk_id point, uint64_t *id, bool own_id) {
  const struct tk_flow_point *f = &w->t->flow_points[point];
  bool start = f->role == TK_FLOW_START || f->role == TK_FLOW_OUT;
  tk_id *source = chains_of(&s->at, f);
  const tk_id from = *source ? w->t->flow_points[*source].at : 0;
  if (!f->bound || (!start && !from)) {
    s->lost += needs_flow(f);
    return;
  }
  if (!start) {
    bool shown = add_flow(w, from, f, own_id ? (uint64_t)f->id : *id);
    if (!own_id) *id += w->step;
    s->lost += !shown && needs_flow(f);
    if (shown) s->lost -= s->loose[*source];
    if (shown) s->loose[*source] = 0;
  }
  if (!start && f->role != TK_FLOW_STEP && f->role != TK_FLOW_INOUT) return;
  *source = point;
  s->loose[point] = start && needs_flow(f);
  s->lost += s->loose[point];
}

uint64_t flows_write_ends(struct event_writer *w, uint64_t *next_id) {
  const struct tk_trace *t = w->t;
  struct sources s = {.lost = 0};
  struct uses uses;
  const uint64_t least = *next_id;
  w->in_packets = classes_in_packets(w);
  collect_points(w);
  sort_points(w);
  pass_ids(t, w->step, next_id);
  *next_id += w->first_flow;
  bool ok = chains_init(&s.at, t, w->mem);
  s.loose = mem_zeros(w->mem, (uint64_t)t->n_flow_points + 1, 1);
  count_uses(t, &uses, w->mem);
  ok = ok && s.loose && uses.few;
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (is_in_packets(w, f)) continue;
    if (is_chain(t, f)) link_of_chain(w, f);
    else follow_flow(w, &s, i, next_id, is_alone(&uses, f, least));
  }
  chains_free(&s.at);
  mem_free(w->mem, s.loose);
  mem_free(w->mem, uses.few);
  map_free(&uses.others);
  mem_free(w->mem, w->in_packets);
  w->in_packets = NULL;
  sort_flow_ends(w);
  return s.lost;
}
