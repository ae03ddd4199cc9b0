/* unpack.h - zstd, xz and bzip2 streams, by libarchive.  gzip has its own way (gzip.c): it is what traces come in, and damaged. */
#ifndef IO_UNPACK_H
#define IO_UNPACK_H

#include "in.h"

/* Puts a decompressor over `inner` if its content is zstd, xz or bzip2, else returns it as it is.  Takes inner over, also on
 * failure (NULL). */
struct in *in_unpack(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* The same for an archive that comes through a pipe or lies in another one: its first member, and a repair is noted if there are
 * more.  Archives that can be opened by name have a way of their own (archive.h). */
struct in *in_member(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

#endif
