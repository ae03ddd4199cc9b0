/* tar.h - writes a tar archive to an output, member by member, using libarchive.
 *
 * Equal members give equal bytes: no time, no owner. Errors of the output stick there (out.h). */
#ifndef IO_TAR_H
#define IO_TAR_H

#include "out.h"

struct tar;

/* Returns NULL with err set on failure. */
struct tar *tar_open(struct out *out, struct tk_err *err);
/* Starts a file of `size` bytes; its name must be ASCII. */
bool tar_member(struct tar *t, const char *name, uint64_t size, struct tk_err *err);
/* Writes its next bytes, at most the rest of its size. */
bool tar_write(struct tar *t, const void *p, size_t n, struct tk_err *err);
/* Returns the bytes that the member still needs. */
uint64_t tar_left(const struct tar *t);
/* Ends the archive; the caller commits the output. */
bool tar_end(struct tar *t, struct tk_err *err);
/* Frees the archive; NULL is allowed. */
void tar_close(struct tar *t);

#endif
