/* ahead.h - reads and inflates an input on a separate thread while the reader parses earlier data. */
#ifndef IO_AHEAD_H
#define IO_AHEAD_H

#include "in.h"

struct in *ahead_open(struct in_opener opener, uint64_t max_size, struct mem *mem, struct tk_err *err);

#endif
