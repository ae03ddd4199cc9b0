/* read.h - reads profiles of pprof. */
#ifndef FORMAT_PPROF_READ_H
#define FORMAT_PPROF_READ_H

#include "format/format.h"

unsigned pprof_bid(const uint8_t *p, size_t n);
bool pprof_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
