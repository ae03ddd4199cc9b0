/* state_events.h - recognises instants that describe the state at the start of a trace or of a part of it. */
#ifndef GRAPH_STATE_EVENTS_H
#define GRAPH_STATE_EVENTS_H

#include "trace.h"

/* Returns an array that is 1 for each class of such instants, NULL if there is none or memory runs out. The caller frees it. */
uint8_t *state_events_classes(const struct tk_trace *t, struct mem *mem);

#endif
