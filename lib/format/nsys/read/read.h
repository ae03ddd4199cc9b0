/* read.h - reads an export of Nsight Systems into a graph. */
#ifndef FORMAT_NSYS_READ_READ_H
#define FORMAT_NSYS_READ_READ_H

#include "format/format.h"
#include "format/sqlite.h"

unsigned nsys_bid(const uint8_t *p, size_t n);
/* True if the tables belong to Nsight Systems. */
bool nsys_is_database(const struct sqlite *db);
bool nsys_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
