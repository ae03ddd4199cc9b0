/* timeline.c - see timeline.h.
 *
 * The events of a track are already sorted, so the timeline is a merge of tracks. It takes four bytes an event and is built when a
 * query first needs it. With the timeline, a join of intervals with the events inside of them needs one search per interval; without
 * it, one search per interval and track. */
#include "timeline.h"

#include "base/heap.h"

static int64_t timeline_time(const struct tk_sql *s, tk_id event) { return times_at(&s->times, s->t->events[event].ts); }

static struct heap_item item_of(const struct tk_sql *s, tk_id event) {
  return (struct heap_item){.time = timeline_time(s, event), .value = event, .turn = UINT32_MAX - s->t->events[event].track};
}

/* Returns the time of the heap's second item; INT64_MAX if there is none. */
static int64_t second_time(const struct heap *h) {
  const int64_t a = h->n > 1 ? h->items[1].time : INT64_MAX, b = h->n > 2 ? h->items[2].time : INT64_MAX;
  return a < b ? a : b;
}

/* Appends the top event of the heap, and the events after it on its track that precede the events of all other tracks.
 * Returns the number of events in the timeline so far. */
static uint32_t take_run(const struct tk_sql *s, struct heap *h, tk_id *timeline, uint32_t n) {
  tk_id at = (tk_id)h->items[0].value;
  const struct tk_track *k = &s->t->tracks[s->t->events[at].track];
  const tk_id end = k->first + k->count;
  const int64_t until = second_time(h);
  timeline[n++] = at++;
  while (at < end && timeline_time(s, at) < until) timeline[n++] = at++;
  if (at < end) heap_replace_top(h, item_of(s, at));
  else heap_pop(h);
  return n;
}

bool timeline_build(struct tk_sql *s) {
  struct heap heap = {.mem = &s->mem};
  uint32_t n = 0;
  if (s->timeline) return true;
  tk_id *timeline = mem_array(&s->mem, (uint64_t)s->t->n_events + 1, sizeof *timeline);
  for (tk_id k = 1; timeline && k <= s->t->n_tracks; k++)
    if (s->t->tracks[k].count) heap_push(&heap, item_of(s, s->t->tracks[k].first));
  const bool ok = timeline && !s->mem.failed;
  while (ok && heap.n) n = take_run(s, &heap, timeline, n);
  heap_free(&heap);
  if (ok) s->timeline = timeline;
  else mem_free(&s->mem, timeline);
  return ok;
}

uint32_t timeline_first(const struct tk_sql *s, int64_t ns, uint32_t near) {
  const uint32_t n = s->t->n_events;
  uint32_t low = near < n ? near : n, high = low;
  uint64_t step = 1;
  while (low > 0 && timeline_time(s, s->timeline[low - 1]) >= ns) {
    high = low - 1;
    low = low > step ? low - (uint32_t)step : 0;
    step *= 2;
  }
  for (step = 1; high < n && timeline_time(s, s->timeline[high]) < ns; step *= 2) {
    low = high + 1;
    high = n - high > step ? high + (uint32_t)step : n;
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (timeline_time(s, s->timeline[middle]) < ns) low = middle + 1;
    else high = middle;
  }
  return low;
}
