/* listing.h - the events of a trace in the order of time, for people and for programs that read lines. */
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

#include "tracekit.h"

#include <stdio.h>

enum listing_form { LISTING_TABLE, LISTING_JSONL, LISTING_CSV };

/* The first `head` events, 0 = all.  False: out of memory. */
bool listing_print(FILE *to, const struct tk_trace *t, enum listing_form form, size_t head);

#endif
