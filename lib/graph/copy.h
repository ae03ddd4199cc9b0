/* copy.h - copies arrays and hash tables of a graph. */
#ifndef GRAPH_COPY_H
#define GRAPH_COPY_H

#include "trace.h"

/* Copies n elements and element 0, the dummy, into an array with room for `room` more. */
bool copy_array(struct mem *mem, void **to, uint32_t *cap, const void *from, uint32_t n, uint32_t room, size_t elem);

/* Copies the slots of a hash table, `mask` + 1 of them; `from` may be NULL. */
bool copy_slots(struct mem *mem, void **to, uint32_t *to_mask, const void *from, uint32_t mask, size_t elem);

bool copy_map(struct map *to, const struct map *from);

#endif
