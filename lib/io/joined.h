/* joined.h - reads several inputs, one after the other, as one: the pieces that a rotating producer wrote. */
#ifndef IO_JOINED_H
#define IO_JOINED_H

#include "in.h"

/* Opens the i-th piece; NULL with err set on failure. Called when the piece before has been read. */
struct in_pieces {
  struct in *(*open)(void *self, uint32_t i, struct mem *mem, struct tk_err *err);
  void (*close)(void *self);
  void *self;
  uint32_t n;
};

/* Between pieces that are JSON stands this byte, as in JSON text sequences (RFC 7464); in_is_joined is then true. */
enum { IN_PIECE = 0x1e };

/* Takes ownership of the pieces, also on failure (NULL). */
struct in *joined_open(struct in_pieces pieces, struct mem *mem, struct tk_err *err);

#endif
