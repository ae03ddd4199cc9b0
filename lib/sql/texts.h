/* texts.h - LIKE, GLOB and REGEXP. */
#ifndef SQL_TEXTS_H
#define SQL_TEXTS_H

#include "sql.h"

bool sql_register_texts(struct tk_sql *s);

/* Match a string against a pattern with SQLite's semantics of LIKE and GLOB. The time is at most proportional to the product of the
 * lengths. */
bool texts_like_matches(const char *pattern, const char *text, int escape);
bool texts_glob_matches(const char *pattern, const char *text);

#endif
