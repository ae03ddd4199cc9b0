#include "ring.h"

bool ring_init(struct ring *r, struct mem *mem) {
  *r = (struct ring){.mem = mem};
  r->data = mem_alloc(mem, (size_t)RING_BLOCKS * RING_BLOCK);
  if (!r->data) return false;
  pthread_mutex_init(&r->lock, NULL);
  pthread_cond_init(&r->moved, NULL);
  return true;
}

void ring_free(struct ring *r) {
  if (!r->data) return;
  pthread_mutex_destroy(&r->lock);
  pthread_cond_destroy(&r->moved);
  mem_free(r->mem, r->data);
  r->data = NULL;
}

static uint8_t *block(struct ring *r, unsigned i) { return r->data + (size_t)(i % RING_BLOCKS) * RING_BLOCK; }

uint8_t *ring_block(struct ring *r) {
  uint8_t *p;
  pthread_mutex_lock(&r->lock);
  while (r->head - r->tail == RING_BLOCKS && !r->stopped) pthread_cond_wait(&r->moved, &r->lock);
  p = r->stopped ? NULL : block(r, r->head);
  pthread_mutex_unlock(&r->lock);
  return p;
}

void ring_push(struct ring *r, size_t n) {
  pthread_mutex_lock(&r->lock);
  r->sizes[r->head % RING_BLOCKS] = n;
  r->head++;
  pthread_cond_signal(&r->moved);
  pthread_mutex_unlock(&r->lock);
}

void ring_end(struct ring *r) {
  pthread_mutex_lock(&r->lock);
  r->ended = true;
  pthread_cond_signal(&r->moved);
  pthread_mutex_unlock(&r->lock);
}

const uint8_t *ring_next(struct ring *r, size_t *n) {
  const uint8_t *p = NULL;
  pthread_mutex_lock(&r->lock);
  while (r->head == r->tail && !r->ended) pthread_cond_wait(&r->moved, &r->lock);
  if (r->head != r->tail) {
    p = block(r, r->tail);
    *n = r->sizes[r->tail % RING_BLOCKS];
  }
  pthread_mutex_unlock(&r->lock);
  return p;
}

void ring_pop(struct ring *r) {
  pthread_mutex_lock(&r->lock);
  r->tail++;
  pthread_cond_signal(&r->moved);
  pthread_mutex_unlock(&r->lock);
}

void ring_stop(struct ring *r) {
  pthread_mutex_lock(&r->lock);
  r->stopped = true;
  pthread_cond_signal(&r->moved);
  pthread_mutex_unlock(&r->lock);
}
