/* lanes.c - assigns each span to the first free lane (lanes.h), so that as few lanes as possible are needed.
 *
 * Spans overlap according to the rules of trace_processor, which rounds start and duration to nanoseconds. After rounding, a span may
 * end inside the next one if the two are less than a nanosecond apart. This affected 350 of 26,723 spans in a TPU trace. */
#include "lanes.h"

enum { FIRST_TID = 20000000 };

static int64_t end_ns(const struct tk_event *e) { return num_ns(e->ts) + num_ns(e->dur); }

/* True for spans that may move to a lane. Spans that are written as begin and end events always stay on their track, because viewers do
 * not drop them. */
static bool lanes_is_whole(const struct tk_event *e) { return !(e->flags & (TK_FLAG_PAIRED | TK_FLAG_ASYNC | TK_FLAG_LOST_CLOCK)); }

/* Collects the tids in use. Threads are identified by pid and tid, but some viewers use only the tid. */
static bool taken_tids(const struct tk_trace *t, struct map *tids) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_ident tid = t->tracks[i].tid;
    if ((tid.kind == TK_IDENT_INT || tid.kind == TK_IDENT_QUOTED) && !map_put(tids, (uint64_t)tid.num, 1)) return false;
  }
  return true;
}

struct planner {
  const struct tk_trace *t;
  struct lanes *lanes;
  struct map tids;
  struct heap free; /* lanes of the track, by the time in ns at which they become free */
  struct open {
    int64_t end;  /* time at which the span is closed, at the latest with its parent */
    bool endless; /* true if the span never ends; it then stays open until its parent is closed */
  } *stack;       /* open spans, innermost last */
  uint32_t n_stack, cap_stack;
  int64_t *next_tid;
  uint32_t step;
};

static bool add_lane(struct planner *p, tk_id track, int64_t end) {
  struct lanes *l = p->lanes;
  if (!mem_grow(l->mem, (void **)&l->v, &l->cap, (uint64_t)l->n + 1, sizeof *l->v)) return false;
  while (map_get(&p->tids, (uint64_t)*p->next_tid)) *p->next_tid += p->step;
  l->v[l->n++] = (struct lane){track, *p->next_tid};
  *p->next_tid += p->step;
  heap_push(&p->free, (struct heap_item){.time = end, .value = l->n});
  return true;
}

static bool place(struct planner *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  const int64_t end = end_ns(e);
  if (p->free.n && p->free.items[0].time <= num_ns(e->ts)) {
    const uint64_t lane = p->free.items[0].value;
    heap_replace_top(&p->free, (struct heap_item){.time = end, .value = lane});
    return map_put(&p->lanes->by_event, event, (uint32_t)lane) != NULL;
  }
  return add_lane(p, e->track, end) && map_put(&p->lanes->by_event, event, p->lanes->n) != NULL;
}

static bool push(struct planner *p, struct open o) {
  if (!mem_grow(p->lanes->mem, (void **)&p->stack, &p->cap_stack, (uint64_t)p->n_stack + 1, sizeof *p->stack)) return false;
  p->stack[p->n_stack++] = o;
  return true;
}

static bool is_closed(const struct open *o, int64_t ts) { return o->endless ? o->end < ts : o->end <= ts; }

static bool plan_event(struct planner *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  if (e->kind != TK_EVENT_SPAN || e->flags & TK_FLAG_LOST_CLOCK) return true;
  while (p->n_stack && is_closed(&p->stack[p->n_stack - 1], num_ns(e->ts))) p->n_stack--;
  const int64_t most = p->n_stack ? p->stack[p->n_stack - 1].end : INT64_MAX;
  const bool endless = e->flags & TK_FLAG_UNFINISHED;
  const int64_t end = endless ? INT64_MAX : end_ns(e);
  return end > most && lanes_is_whole(e) ? place(p, event) : push(p, (struct open){end < most ? end : most, endless});
}

static bool plan_track(struct planner *p, const struct tk_track *k) {
  bool ok = true;
  p->free.n = p->n_stack = 0;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) ok = plan_event(p, i);
  return ok;
}

bool lanes_plan(struct lanes *l, const struct tk_trace *t, bool all, const struct sink *of, int64_t *next_tid, struct mem *mem) {
  struct planner p = {.t = t, .lanes = l, .free = {.mem = mem}, .next_tid = next_tid, .step = sink_step(of)};
  bool ok = true, knows_tids = false;
  *l = (struct lanes){.mem = mem};
  map_init(&l->by_event, mem);
  map_init(&p.tids, mem);
  if (*next_tid < FIRST_TID) *next_tid = FIRST_TID + of->ordinal;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_THREAD || (k->no_lanes && !all)) continue;
    if (!knows_tids) ok = taken_tids(t, &p.tids);
    knows_tids = true;
    ok = ok && plan_track(&p, k);
  }
  map_free(&p.tids);
  heap_free(&p.free);
  mem_free(mem, p.stack);
  return ok && !mem->failed;
}

void lanes_free(struct lanes *l) {
  if (!l->mem) return;
  map_free(&l->by_event);
  mem_free(l->mem, l->v);
  *l = (struct lanes){.n = 0};
}
