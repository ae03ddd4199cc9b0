/* in_open.h - opens files as inputs and removes the layers in which they are packed (in.h). */
#ifndef IO_IN_OPEN_H
#define IO_IN_OPEN_H

#include "layer.h"

/* Does everything that in_open does with a file: removes nested compression, opens the first member of an archive
 * (unpack_member) and decompresses it, converts UTF-16, and finds the trace in an HTML page. Takes ownership of `in`. */
struct in *in_decode(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Removes all layers of compression. They may be nested, because servers and scripts may compress a file that is already compressed.
 * Takes ownership of `in`, which may be NULL. */
struct in *in_peel(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Opens a path without its outer compression: a compressed tar is read as a tar. */
struct in *in_open_packed(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Opens a path and returns its bytes unchanged. */
struct in *in_open_raw(const char *path, struct mem *mem, struct tk_err *err);

#endif
