/* rocprof.h - reads the JSON of rocprofv3 (--output-format json). */
#ifndef FORMAT_ROCM_READ_ROCPROF_H
#define FORMAT_ROCM_READ_ROCPROF_H

#include "format/format.h"

unsigned rocprof_bid(const uint8_t *p, size_t n);
bool rocprof_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
