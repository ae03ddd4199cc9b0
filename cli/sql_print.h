/* sql_print.h - answers to SQL as a table, CSV or JSON, row by row as they come. */
#ifndef CLI_SQL_PRINT_H
#define CLI_SQL_PRINT_H

#include "json.h"
#include "tracekit.h"

#include <stdio.h>

enum print_as { PRINT_TABLE, PRINT_CSV, PRINT_JSON, PRINT_JSONL };

struct printer {
  enum print_as as;
  FILE *to;
  const char *input;
  size_t width;   /* of the terminal; 0 = any */
  char **names;   /* of the answer's columns */
  size_t n_names;
  char **cells;   /* of the table's first rows, by which the columns are as wide as they are */
  bool *numbers;  /* by column: nothing but numbers stands there */
  size_t *widths; /* once these rows are printed */
  size_t n_cells, room;
  uint64_t rows, answers;
  bool failed;    /* there was no memory */
};

/* What the rows go through: an answer of the library's whose arg is the printer. */
struct tk_sql_answer printer_answer(struct printer *p);
void printer_open(struct printer *p);
/* Ends what the first answer began.  False: there was no memory, which is said. */
bool printer_close(struct printer *p);

#endif
