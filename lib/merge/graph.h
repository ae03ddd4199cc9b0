/* graph.h - loads several inputs as one trace in memory, for operations on a whole run. */
#ifndef MERGE_GRAPH_H
#define MERGE_GRAPH_H

#include "merge.h"

/* Merges the inputs into a new graph. Returns false with err on failure. */
bool merge_graph(struct tk_trace *t, const struct merge_inputs *in, const struct tk_merge_options *opt, struct out *collectives,
                 struct tk_merge_report *report, struct tk_err *err);
void merge_name(struct tk_trace *t, const char *source);

#endif
