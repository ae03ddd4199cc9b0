/* within.h - finds the selected span that contains an event of a thread.
 *
 * Usually that is the innermost selected ancestor in the graph.  An overlapping span, which ends after the span that it begins
 * in, has no descendants in the graph and is not inside the span that it outlasts.  Here it contains the events that begin
 * after it and end before it does, and is contained in spans that last at least as long.  So annotations nest even if calls
 * that merely begin or end them cross their edges. */
#ifndef GRAPH_WITHIN_H
#define GRAPH_WITHIN_H

#include "trace.h"

/* A selected span by the caller's number for it; 0 = none. */
struct within_span {
  uint32_t node;
  tk_id event;
  tk_time end, least; /* least: earliest end of this span and its graph ancestors */
};

struct within {
  struct mem *mem;
  struct within_span *under; /* by depth: the span that contains graph events of this depth */
  struct within_span *open;  /* overlapping spans, outermost first, in order of decreasing end */
  uint32_t n_open, cap_open;
};

bool within_init(struct within *w, struct mem *mem);
void within_free(struct within *w);
/* Starts a new thread. */
void within_begin(struct within *w);
/* Returns the selected span that contains the event.  Call for the thread's events in order. */
struct within_span within_find(struct within *w, const struct tk_event *e);
/* Gives an event inside `around` this number; 0 = not selected.  False if memory runs out. */
bool within_add(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node);

#endif
