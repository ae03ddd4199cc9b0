/* texts.h - reads the texts of an export. */
#ifndef FORMAT_NSYS_READ_TEXTS_H
#define FORMAT_NSYS_READ_TEXTS_H

#include "reader.h"

/* Reads StringIds. Returns false with an error on failure. */
bool texts_read(struct nsys *r);
/* Returns the string of a cell that contains a text or an id of StringIds; 0 if there is none. */
tk_id texts_of(struct nsys *r, const struct cell *c);
/* Returns the label of a value in an ENUM_ table; 0 if there is none. */
tk_id texts_label(struct nsys *r, const char *table, int64_t value);

#endif
