/* lanes.h - additional threads (lanes) for spans that do not nest on their own thread.
 *
 * Viewers of Chrome JSON treat a thread as one stack: of two overlapping X events, trace_processor drops the later one and catapult
 * draws one over the other (211 of 600 async ops of a TPU were visible). So if a span starts inside another span and ends after it, it
 * is written on a separate thread. This thread has the same name and position, and its metadata refers to the original thread:
 *
 *     {"ph":"M","name":"thread_name","pid":1,"tid":20000000,"args":{"name":"Async XLA Ops","tracekit.lane_of":7}}
 *
 * Our reader moves the span back. A trace that was read from JSON gets lanes only if its file already had lanes. */
#ifndef FORMAT_CHROME_LANES_H
#define FORMAT_CHROME_LANES_H

#include "base/heap.h"
#include "graph/sink.h"

#define LANE_OF "tracekit.lane_of"

struct lane {
  tk_id track; /* the original track */
  int64_t tid;
};

struct lanes {
  struct mem *mem;
  struct map by_event; /* 1 + index of the event's lane; empty for most graphs */
  struct lane *v;
  uint32_t n, cap;
};

/* Plans the lanes of a graph, for tracks that may have lanes (tk_track.no_lanes) or, if `all`, for all tracks. *next_tid: first
 * unused tid, initially 0; several graphs use different tids (sink.h). Returns false when memory runs out. */
bool lanes_plan(struct lanes *l, const struct tk_trace *t, bool all, const struct sink *of, int64_t *next_tid, struct mem *mem);
void lanes_free(struct lanes *l);

/* Returns the event's lane; NULL if the event is on its own track. */
static inline const struct lane *lane_of_event(const struct lanes *l, tk_id event) {
  const uint32_t *at = l->n ? map_get(&l->by_event, event) : NULL;
  return at ? &l->v[*at - 1] : NULL;
}

#endif
