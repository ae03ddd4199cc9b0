/* sqlite_schema.h - parses the columns of a CREATE TABLE statement. */
#ifndef FORMAT_SQLITE_SCHEMA_H
#define FORMAT_SQLITE_SCHEMA_H

#include "sqlite.h"

/* Fills in the columns of a table, in the arena. A statement that cannot be parsed yields no columns. Returns false when memory
 * runs out. */
bool sqlite_parse(struct sqlite_table *table, const char *sql, size_t n, struct arena *arena);

#endif
