/* diff.h - differences between two runs, by name or path, with the noise estimated from the spread over steps and ranks. */
#ifndef ANALYSIS_DIFF_H
#define ANALYSIS_DIFF_H

#include "graph/origin.h"
#include "graph/trace.h"

bool diff_open(struct tk_diff_report *r, const struct tk_diff_options *opt, struct tk_err *err);
/* Adds the next trace of one side (TK_BEFORE or TK_AFTER). Returns false with err on failure. */
bool diff_add(struct tk_diff_report *r, struct tk_trace *t, const struct track_origin *origins, int side, struct tk_err *err);
bool diff_close(struct tk_diff_report *r, struct tk_err *err);

#endif
