/* ring.h - passes blocks of bytes from one thread to another; the threads share no other data.
 *
 *     producer                                   consumer
 *     p = ring_block(r)      waits for room      p = ring_next(r, &n)   waits for a block; NULL = the end
 *     ring_push(r, n)                            ring_pop(r)
 *     ring_end(r)            no more blocks      ring_stop(r)           needs no more: ring_block returns NULL
 *
 * Blocks keep their order and boundaries, so the result does not depend on the speed of either thread. */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <pthread.h>

#include "mem.h"

enum { RING_BLOCKS = 4, RING_BLOCK = 256 << 10 };

struct ring {
  struct mem *mem;
  uint8_t *data;
  size_t sizes[RING_BLOCKS];
  unsigned head, tail; /* numbers of blocks pushed and popped, which never decrease */
  bool ended, stopped;
  pthread_mutex_t lock;
  pthread_cond_t moved;
};

bool ring_init(struct ring *r, struct mem *mem);
void ring_free(struct ring *r);

uint8_t *ring_block(struct ring *r);
void ring_push(struct ring *r, size_t n);
void ring_end(struct ring *r);
const uint8_t *ring_next(struct ring *r, size_t *n);
void ring_pop(struct ring *r);
void ring_stop(struct ring *r);

#endif
