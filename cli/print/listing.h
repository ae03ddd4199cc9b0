/* listing.h - prints the events of a trace in time order, as a table or as lines for programs. */
#ifndef CLI_PRINT_LISTING_H
#define CLI_PRINT_LISTING_H

#include "columns.h"

#include <stdio.h>

enum listing_form { LISTING_TABLE, LISTING_JSONL, LISTING_CSV };

struct listing {
  enum listing_form form;
  size_t head;              /* number of events to print, from the first; 0 = all */
  const uint8_t *selected;  /* by event: whether to print it; NULL = print all */
};

/* Prints the events with these additional columns. Returns false if out of memory. */
bool listing_print(FILE *to, const struct tk_trace *t, const struct listing *l, const struct columns *columns);

#endif
