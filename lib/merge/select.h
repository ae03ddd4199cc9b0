/* select.h - selects the part of its inputs that a merge keeps: ranks, steps, a time range. */
#ifndef MERGE_SELECT_H
#define MERGE_SELECT_H

#include "graph/trace.h"
#include "op/window.h"

/* Checks the selection before any input is read. Returns false with err set if it is invalid. */
bool merge_select_check(const struct tk_merge_options *opt, struct tk_err *err);

/* True if the selection includes this rank or, if the trace is merged, at least one of its ranks. On failure returns false with err
 * set. */
bool merge_wants(const struct tk_merge_options *opt, struct tk_trace *t, int64_t rank, struct tk_err *err);

/* True if the selection includes this rank. */
bool merge_wants_rank(const struct tk_merge_options *opt, int64_t rank);
/* True if the options select ranks. */
bool merge_selects_ranks(const struct tk_merge_options *opt);

/* Removes unselected steps, and from a merged trace unselected ranks. Returns false with err on failure. */
bool merge_cut(struct tk_trace *t, const struct tk_merge_options *opt, struct tk_err *err);
/* Removes everything outside the window from a trace on the common timeline. Sets *events to the previous number of events.
 * Returns false with err on failure. */
bool merge_cut_time(struct tk_trace *t, const struct window *w, uint64_t *events, struct tk_err *err);

#endif
