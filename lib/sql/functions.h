/* functions.h - SQL functions that queries on Perfetto's tables use. */
#ifndef SQL_FUNCTIONS_H
#define SQL_FUNCTIONS_H

#include "sql.h"

bool sql_register_functions(struct tk_sql *s);

#endif
