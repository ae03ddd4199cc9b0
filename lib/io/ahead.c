/* ahead.c - reads and inflates an input on a separate thread while the reader parses earlier data.
 *
 *     file -> gunzip -> [thread] -> ring -> [reader's thread] -> window
 *
 * The layers before the ring belong to the thread and have their own memory budget. An error is delivered after all data that precedes
 * it. Inflating takes about as long as parsing, so on two cores loading a .gz takes as long as the slower of the two. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "ahead.h"
#include "base/ring.h"
#include "layer.h"
#include "in.h"

struct ahead {
  struct mem *mem;  /* the reader's memory account, which pays for this struct */
  struct mem below; /* the thread's memory account */
  struct in *inner;
  struct ring ring;
  pthread_t thread;
  bool running;
  struct tk_err err; /* error of the thread, set before the ring ends */
  size_t taken;      /* bytes consumed of the block at the ring's tail */
};

static void *run_thread(void *self) {
  struct ahead *a = self;
  uint8_t *block;
  while ((block = ring_block(&a->ring)) != NULL) {
    size_t avail, n = in_take(a->inner, block, RING_BLOCK);
    if (n == 0) in_ahead(a->inner, 1, &avail, &a->err); /* distinguishes the end from an error */
    if (n == 0) break;
    ring_push(&a->ring, n);
  }
  ring_end(&a->ring);
  return NULL;
}

static ptrdiff_t ahead_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct ahead *a = self;
  size_t size, part;
  const uint8_t *block = ring_next(&a->ring, &size);
  if (!block) {
    if (a->err.code == TK_OK) return 0;
    *err = a->err;
    return -1;
  }
  part = size - a->taken < n ? size - a->taken : n;
  memcpy(out, block + a->taken, part);
  a->taken += part;
  if (a->taken == size) {
    a->taken = 0;
    ring_pop(&a->ring);
  }
  return (ptrdiff_t)part;
}

static void ahead_close(void *self) {
  struct ahead *a = self;
  if (a->running) {
    ring_stop(&a->ring);
    pthread_join(a->thread, NULL);
  }
  ring_free(&a->ring);
  in_close(a->inner);
  mem_free(a->mem, a);
}

struct in *ahead_open(struct in_opener opener, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct ahead *a = mem_alloc(mem, sizeof *a);
  if (!a) {
    mem_check(mem, err);
    return NULL;
  }
  *a = (struct ahead){.mem = mem, .below = {.limit = mem->limit}, .err = {.offset = UINT64_MAX}};
  a->inner = opener.open(opener.self, max_size, &a->below, err);
  if (a->inner && in_is_at_hand(a->inner)) {
    ahead_close(a);
    return opener.open(opener.self, max_size, mem, err);
  }
  if (!a->inner || !ring_init(&a->ring, &a->below) || pthread_create(&a->thread, NULL, run_thread, a) != 0) {
    if (a->inner && err && err->code == TK_OK) err_set(err, TK_ELIMIT, "failed to get memory or to start a thread for reading ahead");
    ahead_close(a);
    return NULL;
  }
  a->running = true;
  return in_layer((struct in_source){.read = ahead_read, .close = ahead_close, .self = a}, a->inner, mem, err);
}
