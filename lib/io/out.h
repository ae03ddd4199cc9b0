/* out.h - bytes out: buffered, optionally in gzip or zstd, and either whole or not there.
 *
 * A file is written under a temporary name in its own directory and renamed by out_commit; out_close without commit removes it.
 * The first write error sticks: writers go on and learn of it from out_commit. */
#ifndef IO_OUT_H
#define IO_OUT_H

#include "base/mem.h"

struct out {
  uint8_t *next, *end; /* free space of the buffer: writers may fill it directly through out_reserve */
  struct out_impl *impl;
};

struct out_options {
  bool gzip;   /* one member, no name, mtime 0 */
  bool zstd;   /* one frame */
  bool binary; /* not text: refused on a terminal, as what is compressed is */
  int level;   /* 0 = default, 1 fastest .. 9 smallest */
  bool force;  /* replace an existing file */
  bool owner_only; /* nobody but the owner may read the file, whatever the inputs and the umask allow */
  bool same;   /* an existing file that holds the same bytes stays, which is no error; only out_commit can tell */
  unsigned threads; /* more than 1: others deflate and write beside the caller's; the bytes are the same */
  bool part;   /* what out_join puts together: neither head nor end of gzip, though what stands between them */
  const char *const *inputs; /* files that must not be the output, which is no more readable than they are (NULL-terminated), or NULL */
};

/* "-" is stdout.  Refuses an existing file without force, an output that is one of the inputs, compressed or binary bytes to a
 * terminal.  A device or a pipe is written to as it is.  Messages do not name the path, which the caller prefixes.  The caller
 * ignores SIGPIPE if it wants to hear of a closed pipe. */
bool out_open(struct out *o, const char *path, const struct out_options *opt, struct mem *mem, struct tk_err *err);

/* Is what is written to the path there at once, as it is of stdout, a device or a pipe? */
bool out_is_final(const char *path);

/* Wherever a function puts it, which the thread that writes calls. */
bool out_custom(struct out *o, struct tk_writer to, const struct out_options *opt, struct mem *mem, struct tk_err *err);

/* Into memory; out_memory_data gives the bytes between commit and close. */
bool out_memory(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err);
const uint8_t *out_memory_data(const struct out *o, size_t *n);
/* What was written since the last call, valid until the next write: memory as a place to stop over. */
const uint8_t *out_memory_take(struct out *o, size_t *n);

/* Takes from the file the permissions that `input` lacks: for inputs that become known after the output was opened. */
void out_restrict(struct out *o, const char *input);

/* At least n bytes of room at o->next (n <= OUT_ROOM), else a scratch area when writing has failed: never NULL. */
enum { OUT_ROOM = 4096 };
uint8_t *out_flush(struct out *o);
static inline uint8_t *out_reserve(struct out *o, size_t n) {
  return (size_t)(o->end - o->next) >= n ? o->next : out_flush(o);
}
/* Any number of bytes. */
void out_write(struct out *o, const void *p, size_t n);

/* ---- parts ----
 *
 * Between two breaks stand bytes that are the same whatever stands before them, in gzip too.  So what one process writes from the one
 * to the other can be put into the output of another, which neither unpacks it nor packs it. */

/* A break, unless there is one here. */
void out_break(struct out *o);
/* Leaves out what is written from here on, or does so no longer. */
void out_mute(struct out *o, bool muted);
/* A piece of a part stands here, behind a break; of an output of one thread. */
void out_packed(struct out *o, const void *p, size_t n);
/* All of the part does: it has so many bytes of this CRC, unpacked. */
void out_join(struct out *o, uint64_t raw, uint32_t crc);

/* Of an output that is a part: the CRCs of what was given to the writer, and of the file, both up to the break that is here. */
struct out_crcs {
  uint32_t raw, file;
};
struct out_crcs out_crcs(const struct out *o);

/* Bytes given to the writer so far, before compression; bytes of the file, after commit. */
uint64_t out_raw_bytes(const struct out *o);
uint64_t out_file_bytes(const struct out *o);

/* Writes the last of it and frees the buffers: of many outputs that wait for one another each takes little while it does.  Only
 * out_commit, out_close and the counts may follow.  Safe twice. */
bool out_finish(struct out *o, struct tk_err *err);
/* Was there a file of the same bytes, which stayed?  After out_commit. */
bool out_was_there(const struct out *o);
/* Finishes the file and gives it its name; false with the first error of the whole life of the output. */
bool out_commit(struct out *o, struct tk_err *err);
/* Frees; removes the temporary file if it was not committed.  Safe on a zeroed struct and twice. */
void out_close(struct out *o);

#endif
