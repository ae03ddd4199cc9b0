/* table.h - columns of text that line up, for reports. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "tty.h"

#include <stdbool.h>
#include <stdio.h>

struct table {
  const char *align; /* a character a column: 'l' left, 'r' right */
  char **cells;      /* row by row */
  size_t n, room;
  unsigned char *styles; /* a tty_style a row, of the first n_styles; the others are plain */
  size_t n_styles;
  bool failed;       /* there was no memory for a cell */
  size_t width;      /* of a line, for which the last column is cut; 0 = any */
  size_t squeezed;   /* 1 + the column of paths, which loses the middles of its cells where a line is too long; 0 = none */
  const char *drop;  /* a character a column: of those that a narrow line does without a first, then b, ...; NULL = none go */
};

/* Adds the next cell; its text is made safe for a terminal. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Marks the row of the last cell. */
void table_mark(struct table *t, enum tty_style style);
/* Prints all rows, the first one bold where `to` is a terminal, and frees the table.  False: there was no memory, which is said, and
 * nothing is printed. */
bool table_print(struct table *t, FILE *to);

#endif
