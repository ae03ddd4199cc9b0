/* ahead.h - runs read-only statements in parallel and delivers their results in order. */
#ifndef SQL_AHEAD_H
#define SQL_AHEAD_H

#include "sql.h"

/* Runs the statements from *p on, up to the first one that is not read-only, and advances *p past them. Leaves *p unchanged if
 * there are fewer than two such statements, or if running them in parallel gains nothing. Returns false with err as tk_sql_run
 * does. */
bool ahead_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err);

#endif
