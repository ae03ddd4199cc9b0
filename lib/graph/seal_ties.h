/* seal_ties.h - the file order of a thread's events of one time, if it differs from the graph's. */
#ifndef GRAPH_SEAL_TIES_H
#define GRAPH_SEAL_TIES_H

#include "trace.h"

/* Returns the first tie at or after `event`; NULL if there is none, or if events have been dropped since reading. */
const struct trace_tie *seal_tie_at(const struct tk_trace *t, tk_id event);

#endif
