/* zstd.h - compresses output with zstd (unpack.h reads it). */
#ifndef IO_ZSTD_H
#define IO_ZSTD_H

#include "base/mem.h"

struct zstd_out;

/* Receives compressed data. */
typedef void zstd_take(void *arg, const void *p, size_t n);

/* Starts a stream; returns NULL with err set on failure. level: 0 = default, 1 fastest .. 9 smallest. */
struct zstd_out *zstd_open(int level, zstd_take *take, void *arg, struct mem *mem, struct tk_err *err);
bool zstd_write(struct zstd_out *z, const void *p, size_t n, struct tk_err *err);
bool zstd_end(struct zstd_out *z, struct tk_err *err);
void zstd_close(struct zstd_out *z);

#endif
