/* read.h - reads CPU profiles of V8. */
#ifndef FORMAT_CPUPROFILE_READ_H
#define FORMAT_CPUPROFILE_READ_H

#include "format/format.h"

unsigned cpuprofile_bid(const uint8_t *p, size_t n);
bool cpuprofile_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
