/* texts.h - texts of an export. */
#ifndef FORMAT_NSYS_READ_TEXTS_H
#define FORMAT_NSYS_READ_TEXTS_H

#include "reader.h"

/* Reads StringIds. */
bool texts_read(struct nsys *r);
/* Returns the string of a cell: a text, or an id of StringIds; 0 = none. */
tk_id texts_of(struct nsys *r, const struct cell *c);
/* Returns the label of a value in an ENUM_ table; 0 = none. */
tk_id texts_label(struct nsys *r, const char *table, int64_t value);

#endif
