/* opening.h - what the viewer shows first: a time range, and a row of steps on top. */
#ifndef CLI_VIEW_OPENING_H
#define CLI_VIEW_OPENING_H

#include "view.h"

/* Checks the text of --at, which may be NULL. Returns false with err. */
bool view_check_at(const char *at, struct tk_err *err);

/* Writes made->opening: {"start": "NS", "end": "NS", "steps": [{"number": N, "start": "NS", "end": "NS"}, ...]}. The times are
 * nanoseconds as in the file. The range is `at`, else the first step; it is absent if the whole trace is to be shown. On failure
 * prints the reason, sets *status and returns false. */
bool view_find_opening(const struct tk_trace *t, const char *at, struct view_made *made, int *status);

#endif
