/* tree.h - adds up time by path of names. */
#ifndef ANALYSIS_TREE_H
#define ANALYSIS_TREE_H

#include "graph/origin.h"
#include "graph/trace.h"

/* Fills `report`, which the caller frees with tk_tree_report_free even on failure. */
bool tree_of(struct tk_trace *t, const struct tk_tree_options *opt, const struct track_origin *origins, struct tk_tree_report *report,
             struct tk_err *err);

#endif
