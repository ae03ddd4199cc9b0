/* map.h - hash table from 64-bit keys to 32-bit values, with open addressing. Keys and values may be 0; entries are never
 * removed. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "mem.h"

struct map_slot {
  uint64_t key;
  uint32_t value;
  uint32_t used;
};

struct map {
  struct mem *mem;
  struct map_slot *slots;
  uint32_t n, mask;
};

void map_init(struct map *m, struct mem *mem);
void map_free(struct map *m);

/* Returns a pointer to the value of `key`, or NULL. */
uint32_t *map_get(const struct map *m, uint64_t key);
/* Returns a pointer to the value of `key`, inserted as `value` if it is new; NULL when memory runs out. */
uint32_t *map_put(struct map *m, uint64_t key, uint32_t value);

#endif
