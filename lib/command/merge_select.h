/* merge_select.h - the part of its inputs that a merge keeps: ranks, steps, a range of time. */
#ifndef COMMAND_MERGE_SELECT_H
#define COMMAND_MERGE_SELECT_H

#include "graph/trace.h"
#include "op/window.h"

/* Can what is asked for be understood?  Asked before anything is read. */
bool merge_select_check(const struct tk_merge_options *opt, struct tk_err *err);

/* Is any of it asked for that a trace of this rank holds?  Of a merged one, some of its ranks are enough. */
bool merge_wants(const struct tk_merge_options *opt, struct tk_trace *t, int64_t rank, struct tk_err *err);

/* Of a trace of one rank. */
bool merge_wants_rank(const struct tk_merge_options *opt, int64_t rank);
/* Are ranks selected at all? */
bool merge_selects_ranks(const struct tk_merge_options *opt);

/* Takes out other ranks (of a merged trace) and other steps. */
bool merge_cut(struct tk_trace *t, const struct tk_merge_options *opt, struct tk_err *err);
/* Takes out what is not within the window, of a trace that stands on the common timeline; *events are how many it has had. */
bool merge_cut_time(struct tk_trace *t, const struct window *w, uint64_t *events, struct tk_err *err);

#endif
