/* rows.h - rows of a table, in both forms that profiles have. */
#ifndef FORMAT_GECKO_READ_ROWS_H
#define FORMAT_GECKO_READ_ROWS_H

#include "format/json_walk.h"

enum { GECKO_COLUMNS = 12, GECKO_SCHEMA = 32 };

/* Walks through a table. A processed profile has an array for each column, a raw one an array for each row:
 *
 *     {"length":2,"prefix":[null,0],"frame":[3,4]}
 *     {"schema":{"prefix":0,"frame":1},"data":[[null,3],[0,4]]}
 *
 * The number of rows is the length of the first column. Missing cells have p == NULL. */
struct gecko_rows {
  struct json_value cells[GECKO_COLUMNS];
  const uint8_t *at; /* text of the first cell, or of the row */
  unsigned n;        /* number of columns */
  bool raw, open[GECKO_COLUMNS];
  struct json_walk rows, columns[GECKO_COLUMNS];
  int8_t column_at[GECKO_SCHEMA]; /* raw: column of the cell with this index; -1 = not wanted */
};

/* Starts a walk over the columns with the given names (NULL ends the list). Returns false if the table is missing or has
 * another form. Call gecko_rows_end afterwards in any case. */
bool gecko_rows_begin(struct gecko_rows *r, const struct json_walk *w, const struct json_value *table, const char *const *names);
bool gecko_rows_next(struct gecko_rows *r);
void gecko_rows_end(struct gecko_rows *r);

#endif
