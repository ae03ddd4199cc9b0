/* table.h - a table whose rows have numbers: what it takes to read one, and nothing is stored.
 *
 * The virtual table that reads them (table.c) finds a row by its id without a search, and rows by a key in an order of keys that is
 * made when a query first asks for it.  So no join on keys is quadratic. */
#ifndef SQL_TABLE_H
#define SQL_TABLE_H

#include "sql.h"

struct table {
  const char *name, *schema; /* as CREATE TABLE has it */
  bool (*rows)(struct tk_sql *s, uint32_t *n); /* false when memory runs out; NULL: one row */
  bool (*has)(const struct tk_sql *s, uint32_t row); /* NULL: every number is of a row */
  int (*value)(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out); /* a status of SQLite */
  bool (*key)(const struct tk_sql *s, uint32_t row, int column, int64_t *key); /* false = NULL */
  uint32_t ids;     /* columns that are the row's number + base, as bits */
  uint32_t base;
  uint32_t keys;    /* columns that `key` knows, as bits */
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

/* NULL when memory runs out. */
const struct row_index *table_index(struct tk_sql *s, const struct table *table, int column);
/* The rows of a key: [*from, *to) of the index. */
void table_find(const struct row_index *index, int64_t key, uint32_t *from, uint32_t *to);
void table_free_indices(struct tk_sql *s);

const struct table *sql_flow_table(void);
bool table_register(struct tk_sql *s, const struct table *table);

#endif
