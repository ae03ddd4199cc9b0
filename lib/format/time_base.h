/* time_base.h - reads and writes the time bases that producers store in the top-level data of JSON: the absolute time that
 * corresponds to ts = 0.
 *
 * Each producer has its own key and unit, and one row in time_base.c. After the base has changed, it is written again under the
 * same key. Other formats store top-level data unchanged, so these functions do not belong to a format. */
#ifndef FORMAT_TIME_BASE_H
#define FORMAT_TIME_BASE_H

#include "graph/trace.h"

/* Finds the first base in the top-level data, and returns the name of its source for messages; NULL if there is none.
 * `start_ps`: the first ts, for bases that are the time of the first event. */
const char *time_base_find(const struct tk_trace *t, i128 start_ps, int64_t *ns);
/* Returns a note about the times of files with this source of the time base; NULL if there is none. */
const char *time_base_caveat(const char *source);
/* True if top-level data contains a base. */
bool time_base_is_stated(const struct tk_trace *t);
/* True if a timestamp, in nanoseconds, can only be relative to 1970: it is a date between 2001 and 2096. */
bool time_base_is_date(int64_t ns);
/* True if this top-level value, after time_base_rewrite, contains the trace's current base. */
bool time_base_is_written(const struct tk_trace *t, const struct tk_meta *m);
/* Returns true if this top-level value contains a base that must be changed or removed. `out` is then the new text of the
 * value, or empty to remove the value. */
bool time_base_rewrite(const struct tk_trace *t, const struct tk_meta *m, struct buf *out);

#endif
