/* ahead.h - statements that only read are run side by side, and answered in their order. */
#ifndef SQL_AHEAD_H
#define SQL_AHEAD_H

#include "sql.h"

/* Runs the statements from *p on, as many as only read what the trace says, and moves *p behind them; false with err as tk_sql_run.
 * *p stays where it is if there are fewer than two of them, or nothing to gain. */
bool ahead_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err);

#endif
