/* allowed.h - lists the functions, modules and pragmas that a query may use; everything else of SQLite is refused. */
#ifndef SQL_ALLOWED_H
#define SQL_ALLOWED_H

#include <stdbool.h>

/* True if queries may use the function, module or pragma with this name; names are case-insensitive. */
bool allowed_function(const char *name);
bool allowed_pragma(const char *name);
bool allowed_module(const char *name);

/* NULL-terminated list of SQLite's modules that queries may read; does not include the modules of the trace's own tables. */
extern const char *const allowed_modules[];

#endif
