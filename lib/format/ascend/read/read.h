/* read.h - reads an Ascend database into a graph. */
#ifndef FORMAT_ASCEND_READ_READ_H
#define FORMAT_ASCEND_READ_READ_H

#include "format/format.h"
#include "format/sqlite.h"

unsigned ascend_bid(const uint8_t *p, size_t n);
bool ascend_is_database(const struct sqlite *db);
bool ascend_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
