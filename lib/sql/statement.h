/* statement.h - parses and runs one statement of a text: an SQLite statement, or a supported PerfettoSQL statement. */
#ifndef SQL_STATEMENT_H
#define SQL_STATEMENT_H

#include "sql.h"

/* Returns the position after whitespace, comments and semicolons. */
const char *statement_at(const char *p);
/* Returns the position after an INCLUDE of a known module; p itself if there is none. */
const char *statement_behind_include(const char *p);
/* If the statement at *p is read-only, advances *p past it and returns true. */
bool statement_passes_reading(struct tk_sql *s, const char **p);
/* Runs the statement at *p and advances *p past it, or to the end of the text if no more results are wanted. Error positions
 * refer to `whole`, the text that contains the statement. */
bool statement_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err);

#endif
