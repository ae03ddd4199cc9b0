/* tar.h - writes a tar archive to an output, member by member, using libarchive.
 *
 * Archives of equal members are equal, because members have no time and no owner. Errors of the output are reported later
 * (out.h). */
#ifndef IO_TAR_H
#define IO_TAR_H

#include "out.h"

struct tar;

/* Starts an archive, which is written to `out`. Returns NULL with err set on failure. */
struct tar *tar_open(struct out *out, struct tk_err *err);
/* Starts a file of `size` bytes; its name must be ASCII. */
bool tar_member(struct tar *t, const char *name, uint64_t size, struct tk_err *err);
/* Writes the next bytes of the file, at most as many as are still missing. */
bool tar_write(struct tar *t, const void *p, size_t n, struct tk_err *err);
/* Returns how many bytes of the file are still missing. */
uint64_t tar_left(const struct tar *t);
/* Ends the archive. The caller commits the output. */
bool tar_end(struct tar *t, struct tk_err *err);
/* Frees the archive; NULL is allowed. */
void tar_close(struct tar *t);

#endif
