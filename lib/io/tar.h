/* tar.h - a tar archive onto an output, member after member, by libarchive.
 *
 * Equal members give equal bytes: no time, no owner.  Errors of the output stick there (out.h). */
#ifndef IO_TAR_H
#define IO_TAR_H

#include "out.h"

struct tar;

/* NULL with err set. */
struct tar *tar_open(struct out *out, struct tk_err *err);
/* Begins a file of `size` bytes; its name is ASCII. */
bool tar_member(struct tar *t, const char *name, uint64_t size, struct tk_err *err);
/* Its next bytes, no more than are left of its size. */
bool tar_write(struct tar *t, const void *p, size_t n, struct tk_err *err);
/* Bytes that the member still lacks. */
uint64_t tar_left(const struct tar *t);
/* Ends the archive; the output is the caller's to commit. */
bool tar_end(struct tar *t, struct tk_err *err);
/* Frees.  NULL is allowed. */
void tar_close(struct tar *t);

#endif
