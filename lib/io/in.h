/* in.h - reads input bytes: look ahead, then consume.
 *
 * A reader sees a window of the input. in_ahead returns at least `min` bytes without consuming them (fewer only at the end of
 * the input); in_consume advances. The same functions work for a file, stdin, memory, an inflating stream and, in tests, a
 * source that returns one byte at a time or fails on demand:
 *
 *        offset
 *          |<---------- *avail, >= min unless the input ends ---------->| IN_PAD readable bytes of zero
 *     -----+-------------------------------------------------------------+------------
 *
 * Because of the pad, a scanner may compare whole words beyond the end; *avail shows which zeros are input. */
#ifndef IO_IN_H
#define IO_IN_H

#include "base/mem.h"

enum { IN_PAD = 64 };

struct in;

/* A source of bytes. read returns up to n bytes; 0 at the end; -1 with err set on failure. */
struct in_source {
  ptrdiff_t (*read)(void *self, uint8_t *p, size_t n, struct tk_err *err);
  /* Reads up to n bytes at an offset, without changing the position; fewer only at the end. NULL: the source can only be read
   * in order. */
  ptrdiff_t (*read_at)(void *self, uint8_t *p, size_t n, uint64_t at, struct tk_err *err);
  /* Sets the offset at which `read` continues; may be NULL if read_at is. */
  void (*move)(void *self, uint64_t at);
  void (*close)(void *self);
  void *self;
  uint64_t total; /* size in bytes, for progress; 0 = unknown */
  bool at_hand;   /* reading costs no more than copying, as for an uncompressed file */
};

/* A repair or an observation of an input layer; the loader turns it into a note of the trace. */
struct in_note {
  const char *text; /* valid until in_close; for example "gzip: cut at byte 9000 of the compressed file; the 65432 bytes before it were
                     * read" */
  uint64_t offset;  /* offset in the compressed input */
  bool repair;
};
enum { IN_NOTES = 8 };

/* Opens a path or "-". Decompresses gzip (any number of members), zstd, xz and bzip2, detected by content; for an archive,
 * reads the first member. `max_size` limits the decompressed size (0: only the ratio guard); `mem` pays for buffers and must
 * outlive the input. Returns NULL with err set on failure. Messages do not contain the path; the caller adds it. */
struct in *in_open(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* Appends the contents of a small file to `text`. err must be TK_OK before the call. Returns false with err on failure. */
bool in_read_all(const char *path, struct buf *text, struct tk_err *err);

/* Opens an input that a separate thread reads and inflates (-j 2 and more). `open` is called immediately; the thread, which has
 * its own memory budget, reads the result. An uncompressed file is reopened without a thread, because a thread would only add a
 * copy (info of 802 MB: 0.50 s with a thread, 0.46 s without, on two cores). */
struct in_opener {
  struct in *(*open)(void *self, uint64_t max_size, struct mem *mem, struct tk_err *err);
  void *self;
};

/* Opens memory (not copied) or any source (which the input owns and closes), without decompression. */
struct in *in_memory(const void *p, size_t n, struct mem *mem, struct tk_err *err);
struct in *in_custom(struct in_source source, struct mem *mem, struct tk_err *err);

/* Returns a pointer to at least `min` bytes at the current offset, fewer only if the input ends, followed by IN_PAD zeros and
 * valid until the next call. Sets *avail to their number (0 at the end). Returns NULL with err set on a read or decompression
 * error, or when memory or max_size runs out; all data before the error has already been returned. */
const uint8_t *in_ahead(struct in *in, size_t min, size_t *avail, struct tk_err *err);
void in_consume(struct in *in, size_t n);
/* Consumes the next n bytes into p, bypassing the window. Returns the number of bytes, which is lower at the end and before an
 * error; in_ahead then reports the error. */
size_t in_take(struct in *in, uint8_t *p, size_t n);
/* Puts consumed bytes back at the front of the input. Returns false when memory runs out. */
bool in_put_back(struct in *in, const uint8_t *p, size_t n, struct tk_err *err);

/* True if other threads may read the bytes of the input: it is a file without layers. */
bool in_is_shared(const struct in *in);
/* Reads n bytes at an offset of a shared input, on any thread; fewer only at the end. -1 with err set on failure. */
ptrdiff_t in_read_shared(const struct in *in, uint8_t *p, size_t n, uint64_t at, struct tk_err *err);
/* Moves the position of a shared input to any offset. */
void in_move(struct in *in, uint64_t at);

/* Makes the whole input readable at any offset, for formats that are databases. An input that can only be read in order is
 * copied to a temporary file. Must be called before anything is consumed; afterwards only in_read_at may read. Returns false
 * with err on failure. */
bool in_spool(struct in *in, struct tk_err *err);
/* True if in_spool copied the input; in_ahead then returns no bytes. */
bool in_is_spooled(const struct in *in);
/* Reads n bytes at an offset of a spooled input; fewer only at the end. -1 with err set on a failure. */
ptrdiff_t in_read_at(struct in *in, uint8_t *p, size_t n, uint64_t at, struct tk_err *err);
/* Returns the size of a spooled input. */
uint64_t in_size(const struct in *in);

uint64_t in_offset(const struct in *in);   /* decompressed bytes that were consumed */
uint64_t in_raw_read(const struct in *in); /* bytes read from the outermost source, for progress */
uint64_t in_raw_total(const struct in *in);
size_t in_notes(const struct in *in, const struct in_note **notes);
bool in_is_joined(const struct in *in);  /* consists of several pieces, separated by IN_PIECE if they are JSON (joined.h) */
bool in_is_damaged(const struct in *in); /* a decompressor found corrupt data and stopped there */
void in_close(struct in *in);

/* Returns an input that reads from `source`, which itself reads from `inner` and closes it. Takes ownership of the source, also
 * on failure (NULL). */
struct in *in_layer(struct in_source source, struct in *inner, struct mem *mem, struct tk_err *err);

/* True if the input has no layers and its source is at hand (struct in_source). */
bool in_is_at_hand(const struct in *in);

/* Adds a note to the notes that all layers of `in` share. `repair`: it reports a correction, not an observation. The ninth and
 * later notes are dropped. */
void in_add_note(struct in *in, bool repair, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Marks the input as consisting of pieces (joined.h). */
void in_set_joined(struct in *in);

/* Marks the input as ended early because of corrupt data. */
void in_set_damaged(struct in *in);

/* Returns how many bytes of the outermost source were consumed. Bytes that were read ahead do not count. */
uint64_t in_raw_offset(const struct in *in);

#endif
