/* map.h - 64-bit key -> 32-bit value, open addressing.  Key and value 0 are allowed; nothing is ever removed. */
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

/* Where the value of `key` is, or NULL. */
uint32_t *map_get(const struct map *m, uint64_t key);
/* Where the value of `key` is, inserted as `value` if it was not there.  NULL when memory has run out. */
uint32_t *map_put(struct map *m, uint64_t key, uint32_t value);

#endif
