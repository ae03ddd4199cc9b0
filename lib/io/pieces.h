/* pieces.h - a deflate stream that is made of pieces, each of which several threads can pack by itself.
 *
 *     p = pieces_room(s)        room for PIECE bytes and PIECE_SLACK, which the caller fills
 *     pieces_push(s, n, false)  they are a piece, which some thread packs
 *     pieces_drain(s)           all that was pushed has been given to `take`
 *
 * A piece ends on a border of bytes and knows nothing of those before it, so that the stream does not depend on the number of threads,
 * and where pieces end is the caller's choice alone. */
#ifndef IO_PIECES_H
#define IO_PIECES_H

#include "base/mem.h"

/* Of 128 KiB, Kineto JSON is 4.7% larger than in one piece, of 256 KiB 2.4%, of 512 KiB 1.2%, of 1 MiB 0.6% (by zlib's 6: 7.1, 3.6,
 * 1.8, 0.9%). */
enum { PIECE = 1 << 20, PIECE_SLACK = 4096 };

struct pieces;

/* Takes a packed piece, in order; `crc` is that of its n_raw bytes before.  On the thread that pushes, room is asked for or drains. */
typedef void pieces_take(void *arg, const void *p, size_t n, size_t n_raw, uint32_t crc);

/* level: 0 = default, 1 fastest .. 9 smallest.  At most so many threads work, the caller's among them; fewer where `mem` has a limit
 * that so many pieces would be a large part of, or the system gives no more. */
struct pieces *pieces_open(int level, unsigned threads, pieces_take *take, void *arg, struct mem *mem, struct tk_err *err);
/* NULL when memory has run out; the same until it is pushed. */
uint8_t *pieces_room(struct pieces *s, struct tk_err *err);
/* n <= PIECE bytes of the room; `last`: with them the stream ends, else n > 0. */
bool pieces_push(struct pieces *s, size_t n, bool last, struct tk_err *err);
bool pieces_drain(struct pieces *s, struct tk_err *err);
/* No thread reads any room from here on; what was not drained is lost. */
void pieces_forget(struct pieces *s);
/* `s` may be NULL. */
void pieces_close(struct pieces *s);

#endif
