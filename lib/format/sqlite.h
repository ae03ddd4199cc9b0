/* sqlite.h - reads the tables of an SQLite database from its pages (https://www.sqlite.org/fileformat2.html).
 *
 * All formats that are databases use this reader. Rows are read in the order of their rowid. Only the path from the root and a
 * block of leaves are in memory, whatever the size of a table. There are no indices, queries or caches.
 *
 *     page 1: schema        interior page            leaf page
 *      name -> root    ->   child, child, ...   ->   row, row, ...  -> overflow pages of long rows
 *
 * The file is not trusted: pages are read at most once per scan, and lengths are checked. Damaged pages and rows are skipped
 * and counted as lost. */
#ifndef FORMAT_SQLITE_H
#define FORMAT_SQLITE_H

#include "io/in.h"

enum { SQLITE_COLUMNS = 64, SQLITE_DEPTH = 24 };

enum cell_type { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
  enum cell_type type;
  int64_t i;
  double d;
  const uint8_t *p; /* text in UTF-8 that was not validated and has no NUL; valid until the next row */
  size_t n;
};

struct sqlite_column {
  const char *name;
  int16_t stored; /* position in the record; -1: it is the rowid; -2: it is computed and not in the file */
};

struct sqlite_table {
  const char *name;
  const struct sqlite_column *columns;
  uint32_t n_columns;
  uint32_t root;
  bool without_rowid; /* its rows cannot be read */
};

struct sqlite;

/* True if the bytes start with the header of a database. */
bool sqlite_is(const uint8_t *p, size_t n);

/* Opens the database in an input, which the caller owns. Returns NULL with err set if the header is damaged or the schema
 * unreadable. */
struct sqlite *sqlite_open(struct in *in, struct mem *mem, struct tk_err *err);
void sqlite_close(struct sqlite *db);

/* Returns the i-th table; NULL if there are fewer. */
const struct sqlite_table *sqlite_row(const struct sqlite *db, size_t i);
/* Returns the table with this name, ignoring case; NULL if there is none. */
const struct sqlite_table *sqlite_find(const struct sqlite *db, const char *name);
/* Shortens the name of table i to its first n bytes. Returns false when memory runs out. */
bool sqlite_shorten(struct sqlite *db, size_t i, size_t n);
/* Returns the index of the column with this name, ignoring case; -1 if there is none. */
int sqlite_column(const struct sqlite_table *table, const char *name);

/* True if the file was truncated: some of its pages are beyond its end. */
bool sqlite_is_cut(const struct sqlite *db);
/* True if there may be changes in a second file, FILE-wal, which is not read. Viewers leave databases in this mode; the second file is
 * usually empty. */
bool sqlite_is_wal(const struct sqlite *db);

/* A scan of the rows of a table. */
struct sqlite_scan {
  struct sqlite *db;
  const struct sqlite_table *table;
  struct cell v[SQLITE_COLUMNS]; /* by wanted column: its value; CELL_NULL if the table lacks the column */
  int64_t rowid;
  uint64_t rows, lost_rows, lost_pages;
  bool failed; /* true if err is set, after a read error or because memory ran out */
  struct sqlite_walk *walk;
};

/* Starts a scan that decodes the given columns of the table (indices; -1 = always NULL), at most SQLITE_COLUMNS. Returns false
 * with err set if the table cannot be read. sqlite_end must be called in both cases. */
bool sqlite_begin(struct sqlite_scan *s, struct sqlite *db, const struct sqlite_table *table, const int *columns, unsigned n,
                  struct tk_err *err);
/* Moves to the next row. Returns false after the last row, or on failure. */
bool sqlite_next(struct sqlite_scan *s, struct tk_err *err);
void sqlite_end(struct sqlite_scan *s);

/* Returns the number of rows of a table, without decoding them. */
uint64_t sqlite_count(struct sqlite *db, const struct sqlite_table *table);

#endif
