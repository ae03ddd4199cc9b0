/* tables.h - reads the tables that samples and markers refer to. */
#ifndef FORMAT_GECKO_READ_TABLES_H
#define FORMAT_GECKO_READ_TABLES_H

#include "reader.h"

/* Reads the tables that an object has; others stay as they are in x. `base`: tables that x was copied from, which are not freed. */
void gecko_read_tables(struct gecko *g, struct gecko_tables *x, const struct gecko_tables *base, struct json_walk *w,
                       const struct json_value *object);
void gecko_free_tables(struct gecko *g, struct gecko_tables *x, const struct gecko_tables *base);
void gecko_read_categories(struct gecko *g, struct json_walk *w, const struct json_value *list);

#endif
