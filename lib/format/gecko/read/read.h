/* read.h - reads a profile of the Firefox Profiler into a graph. */
#ifndef FORMAT_GECKO_READ_READ_H
#define FORMAT_GECKO_READ_READ_H

#include "format/format.h"

unsigned gecko_bid(const uint8_t *p, size_t n);
bool gecko_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
