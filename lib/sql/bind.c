/* bind.c - see bind.h.
 *
 * trace_processor keeps a stack of open slices for each thread. The end of a complete event has no effect on the stack until the next
 * event of the thread; a flow point binds to the slice on top of the stack. This is the event that began last, unless an end event has
 * closed it. The end of a flow without "bp":"e" binds to the next slice. */
#include "bind.h"

#include "base/hash.h"
#include "relatives.h"

/* Cached stack after the event `last` of a thread. Points are bound in time order. So a span that ends before one point also ends
 * before all later points, and the search skips it only once. */
struct place {
  tk_id stop; /* innermost span around `last` that has not ended; 0 = none */
  tk_id slice;
};

struct binder {
  struct tk_sql *s;
  struct map index; /* last -> its place */
  struct place *places;
  uint32_t n, cap;
  struct map ties; /* (track, first event after a time) -> the slice to which flow ends at that time bind */
};

static tk_time end_of(const struct tk_event *e) { return e->ts + e->dur; }

static bool was_closed(const struct tk_event *e, tk_time now) {
  return e->flags & TK_FLAG_PAIRED && !(e->flags & TK_FLAG_UNFINISHED) && end_of(e) < now;
}

/* True if the span has not ended before `now` and does not end after its parent. Then no enclosing span has been closed either. */
static bool covers(const struct tk_event *e, tk_time now) { return end_of(e) >= now && !(e->flags & TK_FLAG_OVERLAPS); }

/* Returns the slice on top of the stack after an end event closed `closed`: complete events that ended no later are removed as well. */
static tk_id slice_above(const struct tk_sql *s, tk_id closed) {
  const struct tk_event *all = s->t->events;
  tk_id i = s->parents[closed];
  while (i && !(all[i].flags & TK_FLAG_PAIRED) && end_of(&all[i]) <= end_of(&all[closed])) i = s->parents[i];
  return i;
}

static struct place *bind_place(struct binder *b, tk_id last) {
  uint32_t *at = map_put(&b->index, last, b->n);
  if (!at || !mem_grow(&b->s->mem, (void **)&b->places, &b->cap, (uint64_t)b->n + 1, sizeof *b->places)) return NULL;
  if (*at == b->n) b->places[b->n++] = (struct place){last, last};
  return &b->places[*at];
}

/* Returns the slice on top of the stack at time `now`. `last`: the last event of the thread that began by then. */
static tk_id top_of(struct binder *b, tk_id last, tk_time now) {
  const struct tk_sql *s = b->s;
  struct place *p = bind_place(b, last);
  tk_id closed = 0;
  if (!p) return 0;
  for (; p->stop && !covers(&s->t->events[p->stop], now); p->stop = s->parents[p->stop])
    if (was_closed(&s->t->events[p->stop], now)) closed = p->stop;
  if (closed) p->slice = slice_above(s, closed);
  return p->slice;
}

/* Returns the slice to which the end of a flow at time `now` binds: the next slice of the thread. At equal times, complete events come
 * before flow ends. */
static tk_id next_of(struct binder *b, const struct tk_track *k, tk_time now) {
  const struct tk_event *all = b->s->t->events;
  const tk_id end = k->first + k->count, after = sql_first_after(b->s, k, now);
  if (after == k->first || all[after - 1].ts != now) return after < end ? after : 0;
  uint32_t *known = map_get(&b->ties, hash_pair(k->first, after));
  if (known) return *known;
  tk_id i = after - 1;
  while (i >= k->first && all[i].ts == now && !(all[i].flags & TK_FLAG_PAIRED)) i--;
  const bool has_begin = i >= k->first && all[i].ts == now;
  const tk_id slice = has_begin ? i : after < end ? after : 0;
  map_put(&b->ties, hash_pair(k->first, after), slice);
  return slice;
}

static tk_id slice_of(struct binder *b, const struct tk_flow_point *f) {
  const struct tk_sql *s = b->s;
  const tk_id own = f->bound ? f->at : 0;
  const struct tk_track *k = &s->t->tracks[tk_flow_point_track(s->t, f)];
  if (s->times.exact || f->role >= TK_FLOW_OUT || k->kind != TK_TRACK_THREAD) return own;
  if (f->role == TK_FLOW_END && !f->enclosing) return next_of(b, k, f->ts);
  const tk_id behind = sql_first_after(s, k, f->ts), last = behind > k->first ? behind - 1 : 0;
  if (!last) return 0;
  const tk_id top = top_of(b, last, f->ts);
  return top == last && s->t->events[last].flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_OVERLAPS) ? own : top;
}

tk_id *bind_points(struct tk_sql *s) {
  struct binder b = {.s = s};
  tk_id *slices = sql_parents(s) ? mem_array(&s->mem, (uint64_t)s->t->n_flow_points + 1, sizeof *slices) : NULL;
  if (!slices) return NULL;
  map_init(&b.index, &s->mem);
  map_init(&b.ties, &s->mem);
  for (tk_id i = 1; i <= s->t->n_flow_points && !s->mem.failed; i++) slices[i] = slice_of(&b, &s->t->flow_points[i]);
  map_free(&b.index);
  map_free(&b.ties);
  mem_free(&s->mem, b.places);
  return slices;
}
