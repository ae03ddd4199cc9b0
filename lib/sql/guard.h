/* guard.h - limits queries: the features that they may use, and their time and memory. */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include "sql.h"

/* Guards the database from now on. Called after the tables and functions of the trace are registered. Returns false if memory
 * runs out. */
bool guard_install(struct tk_sql *s);
/* Lets the library's own statements attach another database, until guard_resume. Functions and modules stay guarded, because a
 * table may be a view that a query created. */
void guard_suspend(struct tk_sql *s);
void guard_resume(struct tk_sql *s);
/* Starts the clock of a statement; err gets the reason if the statement is stopped or refused. */
void guard_start(struct tk_sql *s, struct tk_err *err);
/* SQLite's authoriser callback; `s` is its first argument. */
int guard_authorise(void *s, int action, const char *a, const char *b, const char *schema, const char *view);

#endif
