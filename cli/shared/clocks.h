/* clocks.h - prints the results of clock alignment, as text and as JSON. */
#ifndef CLI_SHARED_CLOCKS_H
#define CLI_SHARED_CLOCKS_H

#include "print/json.h"
#include "run.h"

/* Formats a clock offset such as "+1.500 ms"; in days if it exceeds the range of tk_time. */
void clocks_shift(int64_t ns, char *text, size_t size);
/* Prints a table of the clocks, then a sentence per clock on how far to trust it. Prints nothing for a single clock. */
void clocks_text(FILE *to, const struct shared *s, const struct tk_align_report *a);
/* Prints "rank 37 was last in 61% of 1,204 collectives, which cost 2.1 ms a step"; nothing without collectives. */
void clocks_collectives_text(FILE *to, const struct tk_collectives *c);
void clocks_collectives_json(struct json *j, const struct tk_collectives *c);

#endif
