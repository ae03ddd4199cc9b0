/* wrap.h - prints sentences wrapped at the width of the terminal. */
#ifndef CLI_PRINT_WRAP_H
#define CLI_PRINT_WRAP_H

#include <stdio.h>

/* A paragraph; all lines after the first begin with `indent` blanks. */
struct wrap {
  FILE *to;
  size_t width;  /* of the terminal; 0 = unlimited */
  size_t indent;
  size_t column; /* where the next word is printed */
};

/* Prints the words of a string, made safe for a terminal, and breaks lines between them. A command, from "tracekit" to the end of its
 * clause, stays on one line, so that it can be copied. */
void wrap_text(struct wrap *w, const char *text);
/* Prints a string as a paragraph of its own, as wide as the terminal `to`. */
void wrap_line(FILE *to, const char *text);
/* Prints a formatted text of at most 500 bytes as a paragraph, on standard output. */
void wrap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints an empty line and the title of a table to standard output. */
void wrap_title(const char *text);

#endif
