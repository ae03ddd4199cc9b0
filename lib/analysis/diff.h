/* diff.h - what changed from one run to another: by name or path, with the noise that the spread over steps and ranks tells. */
#ifndef ANALYSIS_DIFF_H
#define ANALYSIS_DIFF_H

#include "graph/origin.h"
#include "graph/trace.h"

bool diff_open(struct tk_diff_report *r, const struct tk_diff_options *opt, struct tk_err *err);
/* A trace of one side (TK_BEFORE, TK_AFTER), the how manieth input of it. */
bool diff_add(struct tk_diff_report *r, struct tk_trace *t, const struct track_origin *origins, int side, struct tk_err *err);
bool diff_close(struct tk_diff_report *r, struct tk_err *err);

#endif
