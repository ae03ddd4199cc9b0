/* read.h - reads folded stacks. */
#ifndef FORMAT_FOLDED_READ_H
#define FORMAT_FOLDED_READ_H

#include "format/format.h"

unsigned folded_bid(const uint8_t *p, size_t n);
bool folded_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
