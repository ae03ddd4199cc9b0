/* unpack.h - reads zstd, xz and bzip2 streams, using libarchive. gzip has a separate layer (gzip.c), because most traces are
 * compressed with gzip and many of those are damaged. */
#ifndef IO_UNPACK_H
#define IO_UNPACK_H

#include "in.h"

/* Adds a decompressor over `inner` if its content is zstd, xz or bzip2, otherwise returns it unchanged. Takes ownership of
 * inner, also on failure (NULL). */
struct in *unpack_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Does the same for an archive from a pipe or inside another archive: opens its first member, and notes a repair if there are
 * more. archive.h handles archives that can be opened by name. */
struct in *unpack_member(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

#endif
