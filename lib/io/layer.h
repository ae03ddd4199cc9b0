/* layer.h - what a layer over an input needs of it: gunzip, and whatever else turns one stream of bytes into another.
 *
 * A layer is a source that reads from an inner input.  in_layer joins the two: closing, progress and notes then work through
 * the whole stack. */
#ifndef IO_LAYER_H
#define IO_LAYER_H

#include "flate.h"
#include "in.h"

/* An input over `source`, which reads from `inner` and closes it.  Takes the source over, also on failure. */
struct in *in_layer(struct in_source source, struct in *inner, struct mem *mem, struct tk_err *err);

/* Peels what is packed, layers in layers, then an archive (in_member) and what is packed in it, then UTF-16: what in_open does with
 * a file.  Takes `in` over. */
struct in *in_decode(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* A path without the compression around it: a tar that was in gzip is a tar. */
struct in *in_open_packed(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err);
/* A path as it is. */
struct in *in_open_raw(const char *path, struct mem *mem, struct tk_err *err);

/* Is it a source that is at hand, with nothing over it? */
bool in_is_at_hand(const struct in *in);

/* Adds a note to the stack that `in` belongs to; from the ninth on they are only counted by nobody. */
void in_add_note(struct in *in, bool repair, uint64_t offset, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The input ends here because what follows is wrong. */
void in_set_damaged(struct in *in);

/* Bytes consumed of the outermost source, whatever its chunks. */
uint64_t in_raw_offset(const struct in *in);

/* in_gunzip with a chosen inflater: tests hold the two against each other. */
struct in *in_gunzip_with(enum flate_backend backend, struct in *inner, uint64_t max_size, struct mem *mem,
                          struct tk_err *err);

#endif
