/* layer.h - interface for layers over an input, such as gunzip, that turn one stream of bytes into another.
 *
 * A layer is a source that reads from an inner input. in_layer joins the two, so that closing, progress and notes work through
 * the whole stack. */
#ifndef IO_LAYER_H
#define IO_LAYER_H

#include "flate.h"
#include "in.h"

/* Returns an input over `source`, which reads from `inner` and closes it. Takes ownership of the source, also on failure. */
struct in *in_layer(struct in_source source, struct in *inner, struct mem *mem, struct tk_err *err);

/* Removes nested compression, then opens an archive (unpack_member) and decompresses its member, then converts UTF-16, then finds
 * the trace in an HTML page: everything that in_open does with a file. Takes ownership of `in`. */
struct in *in_decode(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* Opens a path without the compression around it: a compressed tar becomes a tar. */
struct in *in_open_packed(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* Opens a path unchanged. */
struct in *in_open_raw(const char *path, struct mem *mem, struct tk_err *err);

/* True for a source that is at hand, without layers. */
bool in_is_at_hand(const struct in *in);

/* Adds a note to the stack of `in`. The ninth and later notes are dropped. */
void in_add_note(struct in *in, bool repair, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Marks the input as made of pieces (joined.h). */
void in_set_joined(struct in *in);

/* Marks the input as ended early because of corrupt data. */
void in_set_damaged(struct in *in);

/* Returns the bytes consumed of the outermost source, independent of its chunks. */
uint64_t in_raw_offset(const struct in *in);

/* gzip_open with a given inflater; tests compare the two. */
struct in *gzip_open_with(enum flate_backend backend, struct in *inner, uint64_t max_size, struct mem *mem,
                          struct tk_err *err);

#endif
