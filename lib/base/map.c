#include "map.h"

#include <string.h>

#include "hash.h"

/* Ids that producers count up are neighbours in the table, too, in blocks of 16: of 3 million correlation ids each was a miss of the
 * cache, 20% of reading an XPlane of 136 MB.  Which column of its block a key has depends on the block, so keys that are all of one
 * column (addresses) use all; a key whose place is taken steps to the next block's next column, so blocks do not fill each other up. */
enum { BLOCK = 16 };

static uint32_t slot_of(uint64_t key, uint32_t mask) {
  const uint64_t hash = hash_number(key / BLOCK);
  return ((uint32_t)hash * BLOCK + (uint32_t)(key + (hash >> 32)) % BLOCK) & mask;
}

/* Where the key is, or would be; m->slots is there and not full. */
static struct map_slot *find(const struct map *m, uint64_t key) {
  uint32_t at = slot_of(key, m->mask);
  while (m->slots[at].used && m->slots[at].key != key) at = (at + BLOCK + 1) & m->mask;
  return &m->slots[at];
}

void map_init(struct map *m, struct mem *mem) { *m = (struct map){.mem = mem}; }

void map_free(struct map *m) {
  mem_free(m->mem, m->slots);
  *m = (struct map){0};
}

uint32_t *map_get(const struct map *m, uint64_t key) {
  struct map_slot *slot = m->slots ? find(m, key) : NULL;
  return slot && slot->used ? &slot->value : NULL;
}

static bool grow_slots(struct map *m) {
  const struct map old = *m;
  const uint32_t mask = old.slots ? old.mask * 2 + 1 : 255;
  struct map_slot *slots = mem_array(m->mem, (uint64_t)mask + 1, sizeof *slots);
  if (!slots) return false;
  memset(slots, 0, ((size_t)mask + 1) * sizeof *slots);
  m->slots = slots;
  m->mask = mask;
  for (uint32_t i = 0; old.slots && i <= old.mask; i++)
    if (old.slots[i].used) *find(m, old.slots[i].key) = old.slots[i];
  mem_free(m->mem, old.slots);
  return true;
}

uint32_t *map_put(struct map *m, uint64_t key, uint32_t value) {
  struct map_slot *slot = m->slots ? find(m, key) : NULL;
  if (slot && slot->used) return &slot->value;
  if (!slot || m->n >= m->mask / 2) {
    if (!grow_slots(m)) return NULL;
    slot = find(m, key);
  }
  *slot = (struct map_slot){key, value, 1};
  m->n++;
  return &slot->value;
}
