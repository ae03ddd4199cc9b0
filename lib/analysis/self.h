/* self.h - whose time it is: at each instant a thread's time is that of its innermost open span.
 *
 * Of spans that nest this is the duration less that of the spans directly below.  Of spans that overlap it is the one that started
 * last, so that the self times of a thread add up to the time in which any of its spans ran, and to no more.  Spans that never ended
 * and those that have lost their clock have no time that could be told; they take none from others. */
#ifndef ANALYSIS_SELF_H
#define ANALYSIS_SELF_H

#include "op/window.h"

struct self_span {
  tk_time end, self;
  tk_id event;
};

struct selves {
  struct mem *mem;
  struct window window; /* time outside of it is nobody's */
  const uint32_t *only; /* by event: 0 = its time is that of the span around it; NULL = each has its own */
  tk_time now;
  struct self_span *open; /* the innermost last; some may have ended already */
  uint32_t n, cap, live;  /* live: how many there were when those that have ended were last swept out */
  void (*done)(void *arg, tk_id event, tk_time self);
  void *arg;
};

/* Has it a time that can be told? */
static inline bool is_timed(const struct tk_event *e) { return !(e->flags & (TK_UNFINISHED | TK_LOST_CLOCK)); }

/* Calls s->done for each span of the thread that is timed.  False when memory runs out. */
bool selves_of_track(struct selves *s, const struct tk_trace *t, tk_id track);
void selves_free(struct selves *s);

#endif
