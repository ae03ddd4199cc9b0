/* top.h - where the time went, by name or by whatever else events are told apart by. */
#ifndef ANALYSIS_TOP_H
#define ANALYSIS_TOP_H

#include "graph/origin.h"
#include "graph/trace.h"

/* Fills `report`, which tk_top_report_free takes in any case. */
bool top_of(struct tk_trace *t, const struct tk_top_options *opt, const struct track_origin *origins, struct tk_top_report *report,
            struct tk_err *err);

#endif
