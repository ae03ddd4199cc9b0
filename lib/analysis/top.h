/* top.h - sums up time by name, or by another property of events. */
#ifndef ANALYSIS_TOP_H
#define ANALYSIS_TOP_H

#include "graph/origin.h"
#include "graph/trace.h"

/* Fills `report`, which the caller frees with tk_top_report_free even on failure. */
bool top_of(struct tk_trace *t, const struct tk_top_options *opt, const struct track_origin *origins, struct tk_top_report *report,
            struct tk_err *err);

#endif
