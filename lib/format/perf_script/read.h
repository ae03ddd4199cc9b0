/* read.h - reads the text of perf script. */
#ifndef FORMAT_PERF_SCRIPT_READ_H
#define FORMAT_PERF_SCRIPT_READ_H

#include "format/format.h"

unsigned perf_script_bid(const uint8_t *p, size_t n);
bool perf_script_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
