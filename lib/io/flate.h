/* flate.h - compresses and decompresses raw deflate streams, with either of two libraries.
 *
 * zlib is always available. ISA-L, if the build found it, inflates 5-10 times and deflates 6 times faster. gzip's headers and
 * trailers are handled by the callers, so that errors and repairs do not depend on the library. */
#ifndef IO_FLATE_H
#define IO_FLATE_H

#include "base/mem.h"

enum flate_backend { FLATE_BEST, FLATE_ZLIB, FLATE_ISAL };

bool flate_has(enum flate_backend backend);

/* Returns the CRC-32 that gzip uses, continued from `crc` (initially 0). */
uint32_t flate_crc(uint32_t crc, const void *p, size_t n);
/* Returns the CRC of two concatenated pieces. n: length of the second piece. */
uint32_t flate_crc_join(uint32_t first, uint32_t second, uint64_t n);

/* ---- inflate ---- */

enum flate_status { FLATE_MORE, FLATE_END, FLATE_BAD };

struct inflater;
struct inflater *inflater_open(enum flate_backend backend, struct mem *mem, struct tk_err *err);
void inflater_reset(struct inflater *z);

/* Inflates io->n_in bytes at io->in to the io->n_out bytes of room at io->out; advances the pointers and reduces the numbers. Returns
 * FLATE_MORE without any progress if more input is needed. At FLATE_END, io->in points past the end of the stream. If earlier calls
 * have read bytes beyond this end (INFLATER_HELD at most), io->in may point before the start of this call's input. */
enum { INFLATER_HELD = 8 };
struct flate_io {
  const uint8_t *in;
  size_t n_in;
  uint8_t *out;
  size_t n_out;
};
enum flate_status inflater_run(struct inflater *z, struct flate_io *io);
void inflater_close(struct inflater *z);

/* ---- deflate ---- */

struct deflater;
/* Returns a new deflater, or NULL with err set. level: 0 = default, 1 fastest .. 9 smallest. */
struct deflater *deflater_open(enum flate_backend backend, int level, struct mem *mem, struct tk_err *err);

/* Adds the next n bytes of input (`last`: the final ones); afterwards call deflater_pull until it returns 0. */
void deflater_feed(struct deflater *z, const uint8_t *p, size_t n, bool last);
size_t deflater_pull(struct deflater *z, uint8_t *p, size_t n);

/* Ends the input so far on a byte boundary and restarts: after deflater_pull has returned 0, later input compresses to the same
 * bytes as at the start of a stream. Must not be called if there was no input since the last break. */
void deflater_break(struct deflater *z);
void deflater_close(struct deflater *z);

#endif
