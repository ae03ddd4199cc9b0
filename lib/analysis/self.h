/* self.h - self time: at each instant, a thread's time belongs to its innermost open span.
 *
 * For nested spans, self time is the duration minus the durations of the direct children. If spans overlap, the time belongs to
 * the span that started last, so that the self times of a thread add up to exactly the time in which any span was running.
 * Spans without an end or a clock have no self time and do not reduce the self time of other spans. */
#ifndef ANALYSIS_SELF_H
#define ANALYSIS_SELF_H

#include "op/window.h"

struct self_span {
  tk_time end, self;
  tk_id event;
};

struct selves {
  struct mem *mem;
  struct scope scope;   /* time outside its window is ignored */
  const uint32_t *only; /* by event: 0 = the event is ignored, and its time belongs to the span around it; NULL = no event is ignored */
  const struct tk_event *events;
  tk_time now;
  struct self_span *open; /* stack of running spans, innermost last; can contain spans that have ended */
  uint32_t n, cap, live;  /* live: number of running spans when ended spans were last removed */
  void (*done)(void *arg, tk_id event, tk_time self);
  void *arg;
};

/* True if the event has a known duration. */
static inline bool is_timed(const struct tk_event *e) { return !(e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)); }

/* Calls s->done for each span of the thread with a known duration. Returns false if memory runs out. */
bool self_of_track(struct selves *s, const struct tk_trace *t, tk_id track);
void self_free(struct selves *s);

#endif
