/* columns.h - prints columns of the table of events (tracekit_arrow.h) as text, JSON or CSV. */
#ifndef CLI_PRINT_COLUMNS_H
#define CLI_PRINT_COLUMNS_H

#include "json.h"
#include "tracekit.h"

#include <stdio.h>

struct columns {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  size_t n;
};

/* Fills the columns with these names (NULL-terminated). False with err set if a name is unknown or memory runs out. */
bool columns_read(struct columns *c, struct tk_trace *t, const char *const *names, struct tk_err *err);
void columns_free(struct columns *c);

/* Print all columns of an event: columns_json() as members of an open object, columns_csv() as more fields of a CSV line,
 * columns_words() as " name=value". */
void columns_json(const struct columns *c, struct json *j, tk_id event);
void columns_csv(const struct columns *c, FILE *to, tk_id event);
void columns_words(const struct columns *c, FILE *to, tk_id event);
/* Prints the names of the columns as more fields of the first CSV line. */
void columns_csv_names(const struct columns *c, FILE *to);

#endif
