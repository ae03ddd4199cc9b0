/* heap.h - what comes first among values that wait for a time. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "mem.h"

/* The top is the item with the least time; of those with one time the one with the greatest turn. */
struct heap {
  struct mem *mem;
  struct heap_item {
    int64_t time;
    uint64_t value;
    uint32_t turn;
  } *items; /* items[0] is the top */
  uint32_t n, cap;
};

/* Nothing is added when memory has run out, which mem_check tells. */
void heap_push(struct heap *h, struct heap_item item);
/* The item takes the place of the top; the heap holds one. */
void heap_replace_top(struct heap *h, struct heap_item item);
/* Removes the top and returns its value; the heap holds one. */
uint64_t heap_pop(struct heap *h);
void heap_free(struct heap *h);

#endif
