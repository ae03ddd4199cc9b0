/* differences.h - what the tables lack, or answer differently from trace_processor, for the trace at hand. */
#ifndef SQL_DIFFERENCES_H
#define SQL_DIFFERENCES_H

#include "sql.h"

/* Records that a statement reads a column of a table. */
void differences_touch(struct tk_sql *s, const char *table, const char *column);

#endif
