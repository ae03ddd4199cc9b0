/* stacks.h - stack samples, call sites, frames, symbols and modules as rows. */
#ifndef SQL_STACKS_H
#define SQL_STACKS_H

#include "sql.h"

bool sql_register_stacks(struct tk_sql *s);

#endif
