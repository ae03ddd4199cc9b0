/* in.h - bytes in: look ahead, then consume.
 *
 * A reader sees a window on the input.  in_ahead gives at least `min` bytes without moving (fewer only at the end of the
 * input); in_consume moves.  The same two functions stand over a file, stdin, memory, an inflating stream and, in tests, a
 * source that gives one byte at a time or fails on demand:
 *
 *        offset
 *          |<---------- *avail, >= min unless the input ends ---------->| IN_PAD readable bytes of zero
 *     -----+-------------------------------------------------------------+------------
 *
 * The pad lets a scanner compare whole words past the end; it tells real zeros from the end by *avail. */
#ifndef IO_IN_H
#define IO_IN_H

#include "base/mem.h"

enum { IN_PAD = 64 };

struct in;

/* Where bytes come from: up to n bytes into p; 0 at the end, -1 with err set. */
struct in_source {
  ptrdiff_t (*read)(void *self, uint8_t *p, size_t n, struct tk_err *err);
  void (*close)(void *self);
  void *self;
  uint64_t total; /* bytes if known, else 0: for progress */
  bool at_hand;   /* reading costs no more than copying: a file's bytes as they are */
};

/* Something that the input layer repaired or noticed: the loader turns these into notes of the trace. */
struct in_note {
  const char *text; /* until in_close: "gzip: cut at byte 9000 of the compressed file; the 65432 bytes before it were read" */
  uint64_t offset;  /* in the compressed input */
  bool repair;
};
enum { IN_NOTES = 8 };

/* Opens a path or "-".  Peels gzip (any number of members), zstd, xz and bzip2 by content; of an archive, reads the first member.
 * `max_size` limits the bytes after decompression (0: only the ratio guard); `mem` pays for buffers and outlives the input.  NULL
 * with err set on failure; messages here and below do not name the path, which the caller prefixes. */
struct in *in_open(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* Appends all of a small file to `text`; err is set before the call to TK_OK. */
bool in_read_all(const char *path, struct buf *text, struct tk_err *err);

/* An input that is opened, read and inflated by a thread of its own (-j 2 and more).  `open` is called at once; what it opens is
 * read by the thread and paid from a budget of its own.  What is at hand, and not packed, is opened again without a thread: its bytes
 * would only be copied once more (info of 802 MB: 0.50 s with one, 0.46 s without, on two cores). */
struct in_opener {
  struct in *(*open)(void *self, uint64_t max_size, struct mem *mem, struct tk_err *err);
  void *self;
};
struct in *in_open_ahead(struct in_opener opener, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* Over memory (not copied), over any source (owned and closed by the input).  No decompression. */
struct in *in_memory(const void *p, size_t n, struct mem *mem, struct tk_err *err);
struct in *in_custom(struct in_source source, struct mem *mem, struct tk_err *err);

/* Puts the gzip peeler over `inner` if its content is gzip, else returns it as it is.  Takes inner over, also on failure. */
struct in *in_gunzip(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err);

/* At least `min` bytes from the current offset unless the input ends before.  Sets *avail to how many there are (0 at the end)
 * and returns a pointer to them, followed by IN_PAD zeros, valid until the next call.  NULL on a read error, decompression
 * error, or when memory or max_size runs out (err set); what came before the fault has been given out already. */
const uint8_t *in_ahead(struct in *in, size_t min, size_t *avail, struct tk_err *err);
void in_consume(struct in *in, size_t n);
/* Consumes the next n bytes into p without a window in between; fewer at the end and before a fault, which in_ahead will meet. */
size_t in_take(struct in *in, uint8_t *p, size_t n);
/* Bytes that were consumed last come back before those that are next.  False when memory runs out. */
bool in_put_back(struct in *in, const uint8_t *p, size_t n, struct tk_err *err);

uint64_t in_offset(const struct in *in);   /* consumed bytes, decompressed */
uint64_t in_raw_read(const struct in *in); /* bytes read from the outermost source: progress */
uint64_t in_raw_total(const struct in *in);
size_t in_notes(const struct in *in, const struct in_note **notes);
bool in_is_damaged(const struct in *in); /* a decompressor found wrong bytes and ended there */
void in_close(struct in *in);

#endif
