/* archive.h - iterates over the members of a tar, zip or 7z archive, using libarchive.
 *
 * A struct arc is a cursor: archive_next moves to the next regular file, and archive_content opens this file. Moving forward
 * reads the archive once; archive_goto to an earlier member starts again from the beginning. Member names are only displayed
 * and compared; no file of such a name is ever written. */
#ifndef IO_ARCHIVE_H
#define IO_ARCHIVE_H

#include "in.h"

struct arc;

struct arc_member {
  const char *name; /* with '/' between folders and without a leading "./"; valid until the next archive_next */
  uint64_t size;    /* UINT64_MAX = unknown */
  int64_t time_ns;  /* time of the last change; 0 = unknown */
  uint32_t index;   /* index among the regular files */
};

/* True if the content of this regular file is an archive, possibly inside gzip, zstd, xz or bzip2; false if it cannot be
 * read. */
bool archive_is(const char *path);

/* Opens an archive. `max_size` limits the decompressed size of a member; the limit for the whole archive is 1024 times as
 * large. Returns NULL with err set on failure. */
struct arc *archive_open(const char *path, uint64_t max_size, struct tk_err *err);

/* Moves to the next regular file. Returns 1, 0 at the end, or -1 with err set. Skips directories, links and files of file
 * managers (__MACOSX, .DS_Store). Damage after the first member counts as the end; archive_damage reports it. */
int archive_next(struct arc *a, struct arc_member *m, struct tk_err *err);
bool archive_goto(struct arc *a, uint32_t index, struct tk_err *err);

/* Opens the current member, decompressed if it is itself compressed. The caller closes the input before the next call for
 * `a`. */
struct in *archive_content(struct arc *a, struct mem *mem, struct tk_err *err);
/* Opens the current member without decompressing it. */
struct in *archive_content_raw(struct arc *a, struct mem *mem, struct tk_err *err);

/* Returns a remark about the archive for the user, or NULL. */
const char *archive_remark(const struct arc *a);
/* Returns a description of the damage found so far, or NULL. */
const char *archive_damage(const struct arc *a);
void archive_close(struct arc *a);


#endif
