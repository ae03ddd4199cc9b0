/* flate.h - raw deflate streams, both ways, behind one pair of functions.
 *
 * zlib is always there.  ISA-L, where the build found it, inflates 5-10 times and deflates 6 times faster.  Neither sees gzip's
 * headers and trailers: those are read and written by the callers, once, so that what is an error and what can be repaired does
 * not depend on the library. */
#ifndef IO_FLATE_H
#define IO_FLATE_H

#include "base/mem.h"

enum flate_backend { FLATE_BEST, FLATE_ZLIB, FLATE_ISAL };

bool flate_has(enum flate_backend backend);

/* The CRC-32 of gzip, continued from `crc` (0 at first). */
uint32_t flate_crc(uint32_t crc, const void *p, size_t n);
/* That of two pieces, of which the second is n bytes long. */
uint32_t flate_crc_join(uint32_t first, uint32_t second, uint64_t n);

/* ---- inflate ---- */

enum flate_status { FLATE_MORE, FLATE_END, FLATE_BAD };

struct inflater;
struct inflater *inflater_open(enum flate_backend backend, struct mem *mem, struct tk_err *err);
void inflater_reset(struct inflater *z);

/* Inflates from [*in, *in + *n_in) into `out`; moves *in and *n_in, sets *made.  FLATE_MORE without progress: more input is
 * needed.  At FLATE_END *in stands behind the stream, up to INFLATER_HELD bytes of which may come from earlier calls: then it
 * points that far before where this call began. */
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
/* level: 0 = default, 1 fastest .. 9 smallest. */
struct deflater *deflater_open(enum flate_backend backend, int level, struct mem *mem, struct tk_err *err);

/* Gives the next n bytes of input (`last`: there are no more); deflater_pull must then be called until it returns 0. */
void deflater_feed(struct deflater *z, const uint8_t *p, size_t n, bool last);
size_t deflater_pull(struct deflater *z, uint8_t *p, size_t n);

/* Ends what was fed on a border of bytes, after which the stream goes on as if it began there: deflater_pull must be called until it
 * returns 0, and then what is fed next gives the bytes that it would give at the start.  Not where nothing was fed since. */
void deflater_break(struct deflater *z);
void deflater_close(struct deflater *z);

#endif
