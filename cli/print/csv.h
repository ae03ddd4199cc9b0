/* csv.h - text as a field of CSV. */
#ifndef CLI_PRINT_CSV_H
#define CLI_PRINT_CSV_H

#include <stddef.h>
#include <stdio.h>

/* Prints the text in quotes, with its own quotes doubled. */
void csv_text(FILE *to, const char *text, size_t n);

#endif
