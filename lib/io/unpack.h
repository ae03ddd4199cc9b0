/* unpack.h - reads zstd, xz and bzip2 streams, using libarchive. gzip has its own layer (gzip.c), because traces mostly come in
 * gzip, often damaged. */
#ifndef IO_UNPACK_H
#define IO_UNPACK_H

#include "in.h"

/* Adds a decompressor over `inner` if its content is zstd, xz or bzip2, otherwise returns it unchanged. Takes ownership of
 * inner, also on failure (NULL). */
struct in *unpack_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* The same for an archive that comes through a pipe or from another archive: opens its first member, and notes a repair if
 * there are more. Archives that can be opened by name are handled by archive.h. */
struct in *unpack_member(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

#endif
