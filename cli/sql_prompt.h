/* sql_prompt.h - statements from a person, one after the other. */
#ifndef CLI_SQL_PROMPT_H
#define CLI_SQL_PROMPT_H

#include "sql_print.h"

/* Runs statements as they are typed until the input ends; answers are printed as by `like`.  Returns the exit status. */
int sql_prompt(struct tk_sql *sql, const struct printer *like);

/* Runs a text of statements and prints their answers; an error is said.  Returns the exit status. */
int sql_run_text(struct tk_sql *sql, const char *text, struct printer *printer);

#endif
