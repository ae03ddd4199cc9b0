/* tables.h - threads, processes, tracks, counters, flows, and trace-wide properties. */
#ifndef SQL_TABLES_H
#define SQL_TABLES_H

#include "sql.h"
#include "table.h"

bool sql_register_tables(struct tk_sql *s);
const struct table *sql_flow_table(void);

#endif
