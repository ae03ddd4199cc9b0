/* views.h - views on other tables, small tables of trace-wide properties, and modules that may be included. */
#ifndef SQL_VIEWS_H
#define SQL_VIEWS_H

#include "sql.h"

void sql_bounds(struct tk_sql *s);
bool sql_register_views(struct tk_sql *s);

/* Checks the module of an INCLUDE, a name of n bytes. Returns false with err if there is no such module. */
bool sql_include(const char *module, size_t n, struct tk_err *err);

#endif
