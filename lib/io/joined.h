/* joined.h - reads several inputs as a single one: the pieces of a trace that a producer wrote to rotating files. */
#ifndef IO_JOINED_H
#define IO_JOINED_H

#include "in.h"

/* Opens the i-th piece when the previous piece has been read. Returns NULL with err set on failure. */
struct in_pieces {
  struct in *(*open)(void *self, uint32_t i, struct mem *mem, struct tk_err *err);
  void (*close)(void *self);
  void *self;
  uint32_t n;
};

/* Byte between pieces that are JSON, as in JSON text sequences (RFC 7464); in_is_joined is then true. */
enum { IN_PIECE = 0x1e };

/* Returns the joined input. Takes ownership of the pieces, also on failure (NULL). */
struct in *joined_open(struct in_pieces pieces, struct mem *mem, struct tk_err *err);

#endif
