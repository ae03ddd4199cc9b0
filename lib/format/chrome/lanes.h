/* lanes.h - rows beside a thread for the spans that cannot nest on it.
 *
 * Viewers of Chrome JSON take a thread for one stack: of two X events that overlap, trace_processor drops the later one and catapult
 * draws one over the other (of 600 async ops of a TPU 211 were to be seen).  So a span that sticks out of another goes to a thread of
 * its own, of the same name and place, whose metadata says whose it is:
 *
 *     {"ph":"M","name":"thread_name","pid":1,"tid":20000000,"args":{"name":"Async XLA Ops","tracekit.lane_of":7}}
 *
 * Our reader puts it back where it was.  What came as JSON is written as it came, with lanes only where it had them. */
#ifndef FORMAT_CHROME_LANES_H
#define FORMAT_CHROME_LANES_H

#include "base/heap.h"
#include "graph/sink.h"

#define LANE_OF "tracekit.lane_of"

struct lane {
  tk_id track; /* that it is of */
  int64_t tid;
};

struct lanes {
  struct mem *mem;
  struct map by_event; /* 1 + index of its lane; empty for nearly all graphs */
  struct lane *v;
  uint32_t n, cap;
};

/* Plans the lanes of a graph: of the tracks that may have some, or of all.  *next_tid is the first tid that none has had yet, 0 at
 * first; of several graphs each takes those that are its own (sink.h).  False when memory has run out. */
bool lanes_plan(struct lanes *l, const struct tk_trace *t, bool all, const struct sink *of, int64_t *next_tid, struct mem *mem);
void lanes_free(struct lanes *l);

/* NULL: the event stands on its track. */
static inline const struct lane *lane_of_event(const struct lanes *l, tk_id event) {
  const uint32_t *at = l->n ? map_get(&l->by_event, event) : NULL;
  return at ? &l->v[*at - 1] : NULL;
}

#endif
