/* heap.h - priority queue of values ordered by time. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "mem.h"

/* The top is the item with the earliest time; of items with equal times, the one with the largest turn. */
struct heap {
  struct mem *mem;
  struct heap_item {
    int64_t time;
    uint64_t value;
    uint32_t turn;
  } *items; /* items[0] is the top */
  uint32_t n, cap;
};

/* Adds an item. If memory runs out, adds nothing; mem_check reports it. */
void heap_push(struct heap *h, struct heap_item item);
/* Replaces the top of a non-empty heap. */
void heap_replace_top(struct heap *h, struct heap_item item);
/* Removes the top of a non-empty heap and returns its value. */
uint64_t heap_pop(struct heap *h);
void heap_free(struct heap *h);

#endif
