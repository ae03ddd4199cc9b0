/* sqlite.h - reads the tables of an SQLite database from its pages (https://www.sqlite.org/fileformat2.html).
 *
 * Formats that are databases share this, as others share the JSON scanner and the protobuf cursor. Rows come in the order of
 * their rowid. Only the path from the root and a block of leaves are in memory, whatever the size of a table: no index, no query,
 * no cache.
 *
 *     page 1: schema        interior page            leaf page
 *      name -> root    ->   child, child, ...   ->   row, row, ...  -> overflow pages of long rows
 *
 * The file is hostile: pages are read at most once per scan, lengths are checked, and what a damaged page or row held is counted
 * as lost and skipped. */
#ifndef FORMAT_SQLITE_H
#define FORMAT_SQLITE_H

#include "io/in.h"

enum { SQLITE_COLUMNS = 64, SQLITE_DEPTH = 24 };

enum cell_type { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
  enum cell_type type;
  int64_t i;
  double d;
  const uint8_t *p; /* text in UTF-8, not checked, without an end; valid until the next row */
  size_t n;
};

struct sqlite_column {
  const char *name;
  int16_t stored; /* place in the record; -1: the rowid, -2: computed, hence not in the file */
};

struct sqlite_table {
  const char *name;
  const struct sqlite_column *columns;
  uint32_t n_columns;
  uint32_t root;
  bool without_rowid; /* cannot be read */
};

struct sqlite;

/* True if the bytes start like a database. */
bool sqlite_is(const uint8_t *p, size_t n);

/* Opens the database in an input, which it does not own. Returns NULL with err set: damaged header, unreadable schema. */
struct sqlite *sqlite_open(struct in *in, struct mem *mem, struct tk_err *err);
void sqlite_close(struct sqlite *db);

/* Returns the i-th table; NULL past the last. */
const struct sqlite_table *sqlite_row(const struct sqlite *db, size_t i);
/* Returns the table of this name, in any case; NULL if there is none. */
const struct sqlite_table *sqlite_find(const struct sqlite *db, const char *name);
/* Returns the column of this name, in any case; -1 = none. */
int sqlite_column(const struct sqlite_table *table, const char *name);

/* Pages of the file that lie beyond its end: it was truncated. */
bool sqlite_is_cut(const struct sqlite *db);
/* True if changes may be in another file, FILE-wal, which is not read. Viewers leave databases in this mode, mostly with nothing
 * in that file. */
bool sqlite_is_wal(const struct sqlite *db);

/* A walk through the rows of a table. */
struct sqlite_scan {
  struct sqlite *db;
  const struct sqlite_table *table;
  struct cell v[SQLITE_COLUMNS]; /* by wanted column; CELL_NULL where the table lacks it */
  int64_t rowid;
  uint64_t rows, lost_rows, lost_pages;
  bool failed; /* a read error or no memory: err is set */
  struct sqlite_walk *walk;
};

/* Starts a walk that decodes the given columns of the table (indices; -1 = always NULL), at most SQLITE_COLUMNS. Returns false
 * with err set if the table cannot be read. sqlite_end must follow either way. */
bool sqlite_begin(struct sqlite_scan *s, struct sqlite *db, const struct sqlite_table *table, const int *columns, unsigned n,
                  struct tk_err *err);
/* Moves to the next row; false after the last one, or on failure. */
bool sqlite_next(struct sqlite_scan *s, struct tk_err *err);
void sqlite_end(struct sqlite_scan *s);

/* Returns the number of rows of a table, without decoding them. */
uint64_t sqlite_count(struct sqlite *db, const struct sqlite_table *table);

#endif
