/* apart.h - notices groups of events that are hours apart: usually a clock that is wrong, or a stray event. */
#ifndef GRAPH_APART_H
#define GRAPH_APART_H

#include "trace.h"

/* Adds a note if the widest gap between events is at least an hour and longer than the rest of the trace. [start, end] contains
 * all events with a clock. The note reports the number of events and the width of the gap. */
void apart_note(struct tk_trace *t, tk_time start, tk_time end);

#endif
