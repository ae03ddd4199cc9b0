/* guard.h - what a query may not do, and how long and how large it may get. */
#ifndef SQL_GUARD_H
#define SQL_GUARD_H

#include "sql.h"

void guard_install(struct tk_sql *s);
/* For the library's own statements. */
void guard_suspend(struct tk_sql *s);
/* A statement begins: its time counts from now, and err is told why it is stopped. */
void guard_start(struct tk_sql *s, struct tk_err *err);

#endif
