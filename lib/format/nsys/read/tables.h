/* tables.h - reads tables of spans and instants. */
#ifndef FORMAT_NSYS_READ_TABLES_H
#define FORMAT_NSYS_READ_TABLES_H

#include "reader.h"

bool tables_read(struct nsys *r);
/* True if tables.c reads this table. */
bool tables_know(const char *table);

#endif
