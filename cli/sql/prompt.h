/* prompt.h - an interactive prompt for SQL statements. */
#ifndef CLI_SQL_PROMPT_H
#define CLI_SQL_PROMPT_H

#include "print.h"

/* Runs statements as they are typed until the input ends, and prints results with the options of `like`. Returns the exit status. */
int sql_prompt(struct tk_sql *sql, const struct printer *like);

/* True if the text contains no statement. */
bool prompt_is_blank(const char *text);

/* Runs the statements of a text, and prints their results or the error. Returns the exit status. */
int sql_run_text(struct tk_sql *sql, const char *text, struct printer *printer);

#endif
