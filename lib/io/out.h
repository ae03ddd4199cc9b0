/* out.h - writes output: buffered, optionally compressed with gzip or zstd, and either completely or not at all.
 *
 * A file is written under a temporary name in its own directory and renamed by out_commit; out_close without commit removes it.
 * After the first write error, writers may continue; out_commit reports the error. */
#ifndef IO_OUT_H
#define IO_OUT_H

#include "base/mem.h"

struct out {
  uint8_t *next, *end; /* free space of the buffer, which writers fill after out_reserve */
  struct out_impl *impl;
};

struct out_options {
  bool gzip;   /* gzip with a single member, no name, and time 0 */
  bool zstd;   /* zstd with a single frame */
  bool binary; /* the output is not text, so it is refused on a terminal, like compressed output */
  int level;   /* 0 = default, 1 fastest .. 9 smallest */
  bool force;  /* allow replacing an existing file */
  bool owner_only; /* let only the owner read the file, whatever the inputs and the umask allow */
  bool same;   /* if a file with the same bytes exists, keep it without an error; out_commit decides */
  unsigned threads; /* if more than 1: other threads compress and write; the bytes are the same */
  bool part;   /* the output is a part for out_join: it has no gzip header and trailer */
  const char *const *inputs; /* NULL-terminated list of inputs, or NULL. The output must not be one of them, and gets no permission that
                              * one of them lacks */
};

/* Opens an output; "-" is stdout. Refuses an existing file without force, an output that is also an input, and compressed or
 * binary bytes on a terminal. A device or a pipe is written to directly. Messages do not contain the path; the caller adds it.
 * The caller must ignore SIGPIPE to learn about a closed pipe. */
bool out_open(struct out *o, const char *path, const struct out_options *opt, struct mem *mem, struct tk_err *err);

/* True if bytes written to the path are visible at once, as for stdout, a device or a pipe. */
bool out_is_final(const char *path);

/* Opens an output that passes its bytes to a function, which is called on the writing thread. */
bool out_custom(struct out *o, struct tk_writer to, const struct out_options *opt, struct mem *mem, struct tk_err *err);

/* Opens an output that counts its bytes and discards them. Needs no file, not even /dev/null, which some sandboxes lack. */
bool out_count(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err);

/* Opens an output in memory. Between commit and close, out_memory_data returns the bytes. */
bool out_memory(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err);
const uint8_t *out_memory_data(const struct out *o, size_t *n);
/* Returns the bytes written since the last call, valid until the next write. */
const uint8_t *out_memory_take(struct out *o, size_t *n);

/* Removes from the file the permissions that `input` lacks, for an input found after the output was opened. */
void out_restrict(struct out *o, const char *input);

/* Returns at least n bytes of room at o->next (n <= OUT_ROOM); after a failure, a scratch area. Never returns NULL. */
enum { OUT_ROOM = 4096 };
uint8_t *out_flush(struct out *o);
static inline uint8_t *out_reserve(struct out *o, size_t n) {
  return (size_t)(o->end - o->next) >= n ? o->next : out_flush(o);
}
/* Writes any number of bytes. */
void out_write(struct out *o, const void *p, size_t n);

/* ---- parts ----
 *
 * The bytes between two breaks do not depend on what precedes them, even in gzip. One process can therefore write such a part,
 * and another can insert it into its output without decompressing or compressing it. */

/* Adds a break, unless the output is already at one. */
void out_break(struct out *o);
/* Starts or stops discarding the bytes that are written. */
void out_mute(struct out *o, bool muted);
/* Inserts bytes of a part, at a break. The output must have only one thread. */
void out_packed(struct out *o, const void *p, size_t n);
/* Ends the inserted part. `raw`: its uncompressed size; `crc`: its CRC. */
void out_join(struct out *o, uint64_t raw, uint32_t crc);

/* CRCs of an output that is a part, up to the current break: of the uncompressed data, and of the file. */
struct out_crcs {
  uint32_t raw, file;
};
struct out_crcs out_crcs(const struct out *o);

/* out_raw_bytes returns the number of bytes before compression, out_file_bytes the size of the file after commit. */
uint64_t out_raw_bytes(const struct out *o);
uint64_t out_file_bytes(const struct out *o);

/* Writes remaining data and frees the buffers, so that many finished outputs can wait for each other at little cost. Afterwards
 * only out_commit, out_close and the counters may be called. May be called twice. Returns false with err on failure. */
bool out_finish(struct out *o, struct tk_err *err);
/* Valid after out_commit: true if a file with the same bytes existed and was kept. */
bool out_was_there(const struct out *o);
/* Completes the file and gives it its final name. Returns false with the first error of the output. */
bool out_commit(struct out *o, struct tk_err *err);
/* Frees the output, and removes the temporary file unless committed. May be called on a zeroed struct, and twice. */
void out_close(struct out *o);

#endif
