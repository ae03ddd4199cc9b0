/* table.h - defines a table with numbered rows by callbacks that compute its values; no row is stored.
 *
 * The virtual table (table.c) finds a row by id without a search, and rows by a key through a sorted index that is built when a
 * query first needs it. So no join on keys is quadratic. Ranges of times are found in the same way: in an index of the times, or
 * among the rows of a key. */
#ifndef SQL_TABLE_H
#define SQL_TABLE_H

#include "sql.h"

struct table {
  const char *name, *schema; /* schema as in CREATE TABLE */
  bool (*rows)(struct tk_sql *s, uint32_t *n); /* sets *n to the number of rows; false if memory runs out. NULL: one row */
  bool (*has)(const struct tk_sql *s, uint32_t row); /* NULL: a row exists for each number */
  int (*value)(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out); /* returns an SQLite status */
  bool (*key)(const struct tk_sql *s, uint32_t row, int column, int64_t *key); /* false = the value is NULL */
  uint32_t ids;     /* bit set: columns whose value is the row number + base */
  uint32_t base;
  uint32_t keys;    /* bit set: columns that `key` supports */
  int time;         /* column of times, which `key` supports; 0 = none */
  uint32_t timed;   /* bit set: columns of `keys` for which rows with equal keys are sorted by time */
};

struct row_key {
  int64_t key;
  uint32_t row;
};

struct row_index {
  const struct table *table;
  int column;
  struct row_key *keys;
  uint32_t n;
  struct row_index *next;
};

/* Returns the index of a column, built on first use; NULL if memory runs out. */
const struct row_index *table_index(struct tk_sql *s, const struct table *table, int column);
/* Finds the rows with a key: rows [*from, *to) of the index. */
void table_find(const struct row_index *index, int64_t key, uint32_t *from, uint32_t *to);
void table_free_indices(struct tk_sql *s);

bool table_register(struct tk_sql *s, const struct table *table);

/* Adds a table with this name. SQLite does not list it, but tk_sql_tables does. Returns false when memory runs out. */
bool sql_add_table(struct tk_sql *s, const char *name, const sqlite3_module *module, void *arg, void (*drop)(void *));

/* Registers a function with `args` arguments, which views may call. `flags`: SQLite's flags. */
bool sql_add_function(struct tk_sql *s, const char *name, int args, int flags, void *arg,
                      void (*call)(sqlite3_context *, int, sqlite3_value **));

/* Called in xConnect: declares the columns of a table, and allows views to read it. Returns an SQLite status. */
int sql_declare(sqlite3 *db, const char *schema);

#endif
