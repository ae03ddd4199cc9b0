/* read.h - reads files of speedscope. */
#ifndef FORMAT_SPEEDSCOPE_READ_READ_H
#define FORMAT_SPEEDSCOPE_READ_READ_H

#include "format/format.h"

unsigned speedscope_bid(const uint8_t *p, size_t n);
bool speedscope_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
