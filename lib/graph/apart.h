/* apart.h - notices groups of events that are hours apart: usually a clock that is wrong, or a stray event. */
#ifndef GRAPH_APART_H
#define GRAPH_APART_H

#include "trace.h"

/* Adds a fact with the number of events and the distance if the widest gap without any event is at least an hour and wider than the
 * rest of the trace, whose timed events are within [start, end]. */
void apart_note(struct tk_trace *t, tk_time start, tk_time end);

#endif
