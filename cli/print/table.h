/* table.h - tables with aligned columns, for reports. */
#ifndef CLI_PRINT_TABLE_H
#define CLI_PRINT_TABLE_H

#include "tty.h"

#include <stdbool.h>
#include <stdio.h>

struct table {
  const char *align; /* a character per column: 'l' left, 'r' right */
  char **cells;      /* row by row */
  size_t n, room;
  unsigned char *styles; /* tty_style of each of the first n_styles rows; later rows are plain */
  size_t n_styles;
  unsigned char *marks;  /* tty_style of each of the first n_marks cells; later cells have the style of their row */
  size_t n_marks;
  bool failed;       /* out of memory for a cell */
  size_t width;      /* maximum width of a line, to which the last column is cut; 0 = unlimited */
  size_t squeezed;   /* 1 + index of the column of paths, shortened in long lines; 0 = none */
  const char *drop;  /* a character per column: in a long line, column 'a' is left out first, then 'b', ...; NULL = none */
  bool sparse;       /* leave out columns without text below the header */
  size_t bars;       /* 1 + index of a column of percentages, which are also drawn as bars on a terminal with enough room; 0 = none */
};

/* Adds the next cell, with its text made safe for a terminal. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sets the style of the row that contains the last cell. */
void table_mark(struct table *t, enum tty_style style);
/* Sets the style of the last cell. */
void table_mark_cell(struct table *t, enum tty_style style);
/* Prints all rows, the first one bold if `to` is a terminal, then the titles of the columns that `drop` left out, and frees the
 * table. If out of memory, prints only a message and returns false. */
bool table_print(struct table *t, FILE *to);
/* Prints a line that names columns for which the terminal is too narrow: "min, max". */
void table_say_dropped(const char *titles, FILE *to);

#endif
