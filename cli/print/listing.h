/* listing.h - prints the events of a trace in time order, as a table or as lines for programs. */
#ifndef CLI_PRINT_LISTING_H
#define CLI_PRINT_LISTING_H

#include "columns.h"

#include <stdio.h>

enum listing_form { LISTING_TABLE, LISTING_JSONL, LISTING_CSV };

/* Prints the first `head` events, 0 = all, with these further columns.  Returns false if out of memory. */
bool listing_print(FILE *to, const struct tk_trace *t, enum listing_form form, const struct columns *columns, size_t head);

#endif
