/* statement.h - one statement of a text: SQLite's, or one of PerfettoSQL's own that is known. */
#ifndef SQL_STATEMENT_H
#define SQL_STATEMENT_H

#include "sql.h"

/* Behind blanks, comments and semicolons. */
const char *statement_at(const char *p);
/* Behind an INCLUDE of a module whose tables are there; p itself if it is none. */
const char *statement_behind_include(const char *p);
/* Does the statement at *p only read?  Then *p is moved behind it. */
bool statement_passes_reading(struct tk_sql *s, const char **p);
/* Runs the statement at *p, which is moved behind it, or to the end of the text if the answer is not wanted any more.  Of `whole`, the
 * text that it stands in, errors say the place. */
bool statement_run(struct tk_sql *s, const char *whole, const char **p, const struct tk_sql_answer *to, struct tk_err *err);

#endif
