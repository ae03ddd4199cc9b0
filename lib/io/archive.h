/* archive.h - the members of a tar, zip or 7z archive, one after the other, by libarchive.
 *
 * A cursor: arc_next moves to the next regular file and arc_content opens what it points at.  Going forward reads the archive
 * once; arc_goto to a member that lies behind begins again.  Names are data: nothing here or above ever writes to one. */
#ifndef IO_ARCHIVE_H
#define IO_ARCHIVE_H

#include "in.h"

struct arc;

struct arc_member {
  const char *name; /* '/'-separated, no "./" before it; until the next arc_next */
  uint64_t size;    /* UINT64_MAX = not stated */
  int64_t time_ns;  /* of its last change; 0 = not stated */
  uint32_t index;   /* its place among the regular files */
};

/* Is this regular file an archive, plain or in gzip, zstd, xz or bzip2?  By content: a file that cannot be read is none. */
bool arc_is(const char *path);

/* `max_size` limits what a member, and 1024 times that what the whole archive may decompress to.  NULL with err set. */
struct arc *arc_open(const char *path, uint64_t max_size, struct tk_err *err);

/* 1, 0 at the end, -1 with err set.  Directories, links and what file managers leave behind (__MACOSX, .DS_Store) are passed over.
 * Behind the first member, damage is an end: arc_damage tells. */
int arc_next(struct arc *a, struct arc_member *m, struct tk_err *err);
bool arc_goto(struct arc *a, uint32_t index, struct tk_err *err);

/* The content of the current member, decompressed where it is packed itself.  To be closed before the next call for `a`. */
struct in *arc_content(struct arc *a, struct mem *mem, struct tk_err *err);
/* The same as it is in the archive. */
struct in *arc_content_raw(struct arc *a, struct mem *mem, struct tk_err *err);

/* What is worth saying about the archive, or NULL. */
const char *arc_remark(const struct arc *a);
/* What is wrong with the archive as far as it was read, or NULL. */
const char *arc_damage(const struct arc *a);
void arc_close(struct arc *a);


#endif
