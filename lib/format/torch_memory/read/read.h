/* read.h - reads memory snapshots of PyTorch. */
#ifndef FORMAT_TORCH_MEMORY_READ_READ_H
#define FORMAT_TORCH_MEMORY_READ_READ_H

#include "format/torch_memory/torch_memory.h"

unsigned torch_memory_bid(const uint8_t *p, size_t n);
bool torch_memory_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif
