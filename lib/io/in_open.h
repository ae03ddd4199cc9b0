/* in_open.h - opens files as inputs and removes the layers in which they are packed (in.h). */
#ifndef IO_IN_OPEN_H
#define IO_IN_OPEN_H

#include "layer.h"

/* Removes nested compression, then opens an archive (unpack_member) and decompresses its member, then converts UTF-16, then finds
 * the trace in an HTML page: everything that in_open does with a file. Takes ownership of `in`. */
struct in *in_decode(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Opens a path without the compression around it: a compressed tar becomes a tar. */
struct in *in_open_packed(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Opens a path unchanged. */
struct in *in_open_raw(const char *path, struct mem *mem, struct tk_err *err);

#endif
