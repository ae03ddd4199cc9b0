/* time_base.h - time bases that producers store among the top-level data of JSON: the absolute time from which ts counts.
 *
 * Each producer has its own key and unit: one row each in time_base.c. The row reads the base and writes it again after the base
 * has changed. Other formats carry top-level data along, so the rows belong to no format. */
#ifndef FORMAT_TIME_BASE_H
#define FORMAT_TIME_BASE_H

#include "graph/trace.h"

/* Finds the first base in the top-level data, and returns where it is stated, for users; NULL if there is none. `start_ps` is the first
 * ts, for bases that state the time of the first event. */
const char *time_base_find(const struct tk_trace *t, i128 start_ps, int64_t *ns);
/* True if top-level data states a base. */
bool time_base_is_stated(const struct tk_trace *t);
/* True if this top-level value, after time_base_rewrite, states the trace's current base. */
bool time_base_is_written(const struct tk_trace *t, const struct tk_meta *m);
/* True if this top-level value states the base but not the trace's current one, or the trace no longer has one. Then `out` is the new
 * text, empty if the whole value is dropped. */
bool time_base_rewrite(const struct tk_trace *t, const struct tk_meta *m, struct buf *out);

#endif
