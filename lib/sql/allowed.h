/* allowed.h - the functions, modules and pragmas that a query may use: everything else that SQLite offers is refused. */
#ifndef SQL_ALLOWED_H
#define SQL_ALLOWED_H

#include <stdbool.h>

/* True if queries may call, read or run what has this name, in any case. */
bool allowed_function(const char *name);
bool allowed_pragma(const char *name);
bool allowed_module(const char *name);

/* SQLite's modules that queries may read, ended by NULL; the tables of a trace are modules as well and not listed here. */
extern const char *const allowed_modules[];

#endif
