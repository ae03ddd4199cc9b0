/* archive.h - iterates over the members of a tar, zip or 7z archive, using libarchive.
 *
 * A cursor: archive_next moves to the next regular file and archive_content opens it. Moving forward reads the archive once;
 * archive_goto to an earlier member starts again. Member names are only data: nothing is ever written to them. */
#ifndef IO_ARCHIVE_H
#define IO_ARCHIVE_H

#include "in.h"

struct arc;

struct arc_member {
  const char *name; /* '/'-separated, without a leading "./"; valid until the next archive_next */
  uint64_t size;    /* UINT64_MAX = unknown */
  int64_t time_ns;  /* time of the last change; 0 = unknown */
  uint32_t index;   /* index among the regular files */
};

/* True if this regular file is an archive by content, plain or in gzip, zstd, xz or bzip2; false if it cannot be read. */
bool archive_is(const char *path);

/* `max_size` limits the decompressed size of a member; 1024 times that limits the whole archive. Returns NULL with err set on
 * failure. */
struct arc *archive_open(const char *path, uint64_t max_size, struct tk_err *err);

/* Returns 1, 0 at the end, or -1 with err set. Skips directories, links and files of file managers (__MACOSX, .DS_Store). After
 * the first member, damage counts as the end; archive_damage reports it. */
int archive_next(struct arc *a, struct arc_member *m, struct tk_err *err);
bool archive_goto(struct arc *a, uint32_t index, struct tk_err *err);

/* Opens the current member, decompressed if it is compressed itself. Close the input before the next call for `a`. */
struct in *archive_content(struct arc *a, struct mem *mem, struct tk_err *err);
/* The same without decompression. */
struct in *archive_content_raw(struct arc *a, struct mem *mem, struct tk_err *err);

/* Returns a remark about the archive for the user, or NULL. */
const char *archive_remark(const struct arc *a);
/* Returns a description of damage found so far, or NULL. */
const char *archive_damage(const struct arc *a);
void archive_close(struct arc *a);


#endif
