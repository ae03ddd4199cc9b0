/* gzip.h - the gunzip layer: headers, members, trailers, and the handling of damage. */
#ifndef IO_GZIP_H
#define IO_GZIP_H

#include "in.h"
#include "layer.h"

/* If `inner` is gzip, adds a layer that decompresses it; otherwise returns `inner` unchanged. Takes ownership of `inner`, also on
 * failure (NULL). */
struct in *gzip_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Does the same with a given inflater; tests compare the two inflaters. */
struct in *gzip_open_with(enum flate_backend backend, struct in *inner, uint64_t max_size, struct mem *mem,
                          struct tk_err *err);

#endif
