/* seal_ties.h - file order of simultaneous events of a thread, if it differs from the order in the graph. */
#ifndef GRAPH_SEAL_TIES_H
#define GRAPH_SEAL_TIES_H

#include "trace.h"

/* Returns the first tie at or after `event`; NULL if there is none, or if events have been removed since reading. */
const struct trace_tie *seal_tie_at(const struct tk_trace *t, tk_id event);

#endif
