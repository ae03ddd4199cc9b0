/* differences.h - notes differences from trace_processor: data that the tables lack or show differently, if the trace contains
 * such data. */
#ifndef SQL_DIFFERENCES_H
#define SQL_DIFFERENCES_H

#include "sql.h"

/* Records that a statement reads a column of a table. */
void differences_touch(struct tk_sql *s, const char *table, const char *column);

#endif
