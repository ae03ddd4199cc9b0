/* print.h - prints results of SQL as a table, CSV or JSON, row by row as they arrive. */
#ifndef CLI_SQL_PRINT_H
#define CLI_SQL_PRINT_H

#include "print/json.h"
#include "tracekit.h"

#include <stdio.h>

enum print_as { PRINT_TABLE, PRINT_CSV, PRINT_JSON, PRINT_JSONL };

struct printer {
  enum print_as as;
  FILE *to;
  const char *input;
  size_t width;   /* width of the terminal, in columns; 0 = unlimited */
  char **names;   /* names of the result's columns */
  size_t n_names;
  char **cells;   /* cells of a table's first rows, which determine the widths */
  bool *numbers;  /* per column: it contains no text and no blob */
  size_t *widths; /* per column, in characters; NULL until the first rows are printed */
  size_t n_cells, room;
  uint64_t rows, answers;
  bool failed;    /* out of memory */
};

/* Returns callbacks for the library that print a result; their arg is the printer. */
struct tk_sql_answer sql_print_answer(struct printer *p);
void sql_print_open(struct printer *p);
/* Ends the output. Returns false with a message if the printer ran out of memory. */
bool sql_print_close(struct printer *p);

#endif
