/* names.h - sorts events by name with a counting sort, which takes 10 ns per event; SQLite's sorter takes 450 to 690 ns. */
#ifndef SQL_NAMES_H
#define SQL_NAMES_H

#include "sql.h"

bool sql_names(struct tk_sql *s);
bool sql_names_counts(struct tk_sql *s);
const char *sql_name(const struct tk_sql *s, uint32_t number, size_t *n); /* returns NULL if unnamed; n may be NULL */

/* True if the name with this number passes the test; `text` is unused for NAME_THERE. */
bool sql_name_passes(const struct tk_sql *s, uint32_t number, enum name_test test, const char *text);
bool sql_names_events(struct tk_sql *s);
bool sql_names_order(struct tk_sql *s); /* also returns false if there are too many names */

#endif
