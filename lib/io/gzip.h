/* gzip.h - the gunzip layer: headers, members, trailers, and the handling of damage. */
#ifndef IO_GZIP_H
#define IO_GZIP_H

#include "in.h"
#include "layer.h"

/* Adds a gunzip layer over `inner` if its content is gzip, otherwise returns it unchanged. Takes ownership of inner, also on
 * failure. */
struct in *gzip_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* gzip_open with a given inflater; tests compare the two. */
struct in *gzip_open_with(enum flate_backend backend, struct in *inner, uint64_t max_size, struct mem *mem,
                          struct tk_err *err);

#endif
