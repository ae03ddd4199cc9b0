/* read.h - reads rpd and rocpd databases into a graph. */
#ifndef FORMAT_ROCM_READ_READ_H
#define FORMAT_ROCM_READ_READ_H

#include "format/format.h"
#include "format/sqlite.h"

unsigned rocm_bid(const uint8_t *p, size_t n);
bool rocm_is_database(const struct sqlite *db);
/* True for a database of rocmProfileData. */
bool rocm_is_rpd(const struct sqlite *db);
bool rocm_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
