/* within.c - finds the spans around an event both by graph depth and by time (within.h). */
#include "within.h"

bool within_init(struct within *w, struct mem *mem) {
  *w = (struct within){.mem = mem, .under = mem_array(mem, UINT16_MAX + 2, sizeof *w->under)};
  return w->under != NULL;
}

void within_free(struct within *w) {
  if (!w->mem) return;
  mem_free(w->mem, w->under);
  mem_free(w->mem, w->open);
}

void within_begin(struct within *w) {
  w->under[0] = (struct within_span){.end = INT64_MAX, .least = INT64_MAX};
  w->n_open = 0;
}

static bool sticks_out(const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && (e->flags & (TK_FLAG_OVERLAPS | TK_FLAG_PAIRED)) == TK_FLAG_OVERLAPS;
}

/* Returns the end of a span; a span that never ended counts as ending at its start. */
static tk_time within_end_of(const struct tk_event *e) { return e->flags & TK_FLAG_UNFINISHED ? e->ts : e->ts + e->dur; }

/* Returns the deepest span, at `depth` or above, that lasts until `end`; all spans around it must last that long, too. */
static struct within_span lasting(const struct within *w, uint32_t depth, tk_time end) {
  uint32_t low = 0, high = depth;
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    if (w->under[middle].least >= end) low = middle;
    else high = middle - 1;
  }
  return w->under[low];
}

struct within_span within_find(struct within *w, const struct tk_event *e) {
  const tk_time end = within_end_of(e);
  const struct within_span in_graph = sticks_out(e) ? lasting(w, e->depth, end) : w->under[e->depth];
  uint32_t low = 0, high;
  if (e->flags & TK_FLAG_LOST_CLOCK) return in_graph;
  while (w->n_open && w->open[w->n_open - 1].end < e->ts) w->n_open--;
  for (high = w->n_open; low < high;) {
    const uint32_t middle = (low + high) / 2;
    if (w->open[middle].end >= end) low = middle + 1;
    else high = middle;
  }
  return low && w->open[low - 1].event > in_graph.event ? w->open[low - 1] : in_graph;
}

/* Adds an open span, and drops open spans that end no later: they cannot contain events that begin from now on. */
static bool add_open(struct within *w, struct within_span own) {
  while (w->n_open && w->open[w->n_open - 1].end <= own.end) w->n_open--;
  if (!mem_grow(w->mem, (void **)&w->open, &w->cap_open, (uint64_t)w->n_open + 1, sizeof *w->open)) return false;
  w->open[w->n_open++] = own;
  return true;
}

bool within_add(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node) {
  const struct tk_event *e = &t->events[event];
  const struct within_span own = {node, event, within_end_of(e), within_end_of(e)};
  if (trace_nests(t, event)) {
    struct within_span *under = &w->under[e->depth + 1];
    const tk_time least = w->under[e->depth].least;
    *under = node ? own : around;
    under->least = node && own.end < least ? own.end : least;
  }
  const bool timed = !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK));
  return !node || !sticks_out(e) || !timed || add_open(w, own);
}

bool within_add_until(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node, tk_time end) {
  const struct tk_event *e = &t->events[event];
  if (end >= within_end_of(e) || e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) return within_add(w, t, event, around, node);
  if (!within_add(w, t, event, around, 0)) return false;
  return end < e->ts || add_open(w, (struct within_span){node, event, end, end});
}
