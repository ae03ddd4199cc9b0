/* clocks.h - what a comparison of clocks found, for people and in JSON. */
#ifndef CLI_CLOCKS_H
#define CLI_CLOCKS_H

#include "json.h"
#include "run.h"

/* "+1.500 ms"; beyond the range of a graph time, days. */
void clocks_shift(int64_t ns, char *text, size_t size);
/* A table and a sentence for each clock, where there are several. */
void clocks_text(FILE *to, const struct shared *s, const struct tk_align_report *a);
/* "rank 37 was last in 61% of 1,204 collectives, which cost 2.1 ms a step". */
void clocks_collectives_text(FILE *to, const struct tk_collectives *c);
void clocks_collectives_json(struct json *j, const struct tk_collectives *c);

#endif
