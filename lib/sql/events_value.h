/* events_value.h - computes the values of the columns of an event row. */
#ifndef SQL_EVENTS_VALUE_H
#define SQL_EVENTS_VALUE_H

#include "sql.h"

bool sql_kinds(struct tk_sql *s);
bool sql_steps(struct tk_sql *s);

/* Returns a string of the trace as a result; NULL for id 0. */
void sql_result_string(const struct tk_sql *s, sqlite3_context *out, tk_id id);
void sql_result_id(sqlite3_context *out, uint32_t id); /* NULL for SQL_NONE */

#endif
