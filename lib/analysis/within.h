/* within.h - which of the selected spans of a thread is an event in?
 *
 * In the innermost of those around it in the graph; but a span that overlaps, so that it ends after the span that it begins in, has
 * nothing in the graph under it, and is not in what it sticks out of.  It is here the parent of what begins after it and ends before
 * it does, and is in what lasts as long as it does: so annotations nest though calls of functions that only begin or end them cross
 * their edges. */
#ifndef ANALYSIS_WITHIN_H
#define ANALYSIS_WITHIN_H

#include "graph/trace.h"

/* A selected span: the caller's number for it; 0 = none. */
struct within_span {
  uint32_t node;
  tk_id event;
  tk_time end, least; /* least: that of it and of those around it in the graph */
};

struct within {
  struct mem *mem;
  struct within_span *under; /* by depth: what a span of this depth is in, in the graph */
  struct within_span *open;  /* spans that overlap, from the outermost on: each ends before the one before it does */
  uint32_t n_open, cap_open;
};

bool within_init(struct within *w, struct mem *mem);
void within_free(struct within *w);
/* A thread begins. */
void within_begin(struct within *w);
/* The selected span that the event is in.  Asked of the thread's events one after the other. */
struct within_span within_find(struct within *w, const struct tk_event *e);
/* The event, which is in `around`, has this number; 0 = it is not selected.  False when memory runs out. */
bool within_add(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node);

#endif
