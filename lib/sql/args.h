/* args.h - the table of args, and EXTRACT_ARG. */
#ifndef SQL_ARGS_H
#define SQL_ARGS_H

#include "sql.h"

bool sql_register_args(struct tk_sql *s);

#endif
