/* runs.h - compares any number of runs with the first, by name or path; finds lasting changes across the runs. */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H

#include "graph/origin.h"
#include "graph/trace.h"

bool runs_open(struct tk_compare_report *r, const struct tk_diff_options *opt, const char *const *names, size_t n,
                  struct tk_err *err);
/* Adds the next trace of a run. */
bool runs_add(struct tk_compare_report *r, struct tk_trace *t, const struct track_origin *origins, size_t run, struct tk_err *err);
/* Adds the figures of a trace to its run. */
void runs_figures(struct tk_compare_run *run, const struct tk_report *figures);
/* Removes runs to which no trace was added. */
void runs_remove_unread(struct tk_compare_report *r);
bool runs_close(struct tk_compare_report *r, struct tk_err *err);

#endif
