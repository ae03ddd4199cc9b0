/* within.h - finds the selected span that contains an event of a thread.
 *
 * Usually it is the innermost selected ancestor in the graph. An overlapping span (one that ends after the span in which it
 * begins) has no descendants in the graph. For this module, such a span contains the events that begin after it and end before
 * it, and is inside the spans that last at least as long. Therefore annotations nest even if the calls that begin or end an
 * annotation cross its boundaries. */
#ifndef GRAPH_WITHIN_H
#define GRAPH_WITHIN_H

#include "trace.h"

/* A selected span: `node` is the number that the caller gave it; 0 = none. */
struct within_span {
  uint32_t node;
  tk_id event;
  tk_time end, least; /* `least`: earliest end among this span and its graph ancestors */
};

struct within {
  struct mem *mem;
  struct within_span *under; /* by depth: the selected span that contains graph events of this depth */
  struct within_span *open;  /* overlapping spans, outermost first, in order of decreasing end */
  uint32_t n_open, cap_open;
};

bool within_init(struct within *w, struct mem *mem);
void within_free(struct within *w);
/* Starts a new thread; forgets the spans of the previous one. */
void within_begin(struct within *w);
/* Returns the selected span that contains the event. Call for the thread's events in order. */
struct within_span within_find(struct within *w, const struct tk_event *e);
/* Adds an event that is inside `around`. `node`: the caller's number for the event; 0 = not selected. Returns false if memory
 * runs out. */
bool within_add(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node);
/* Adds a span that contains only events which end no later than `end`. */
bool within_add_until(struct within *w, const struct tk_trace *t, tk_id event, struct within_span around, uint32_t node, tk_time end);

#endif
