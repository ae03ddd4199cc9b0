#include "map.h"

#include <string.h>

#include "hash.h"

/* Slots of a block. 16 sequential ids share a block, so they are neighbours in the table; when each id had a random slot, each of 3
 * million correlation ids missed the cache, which was 20% of the time to read an XPlane of 136 MB. The column of a key within its block
 * also depends on the block, so keys that are equal modulo 16 (addresses) spread over all columns. On a collision a key moves to the
 * next column of the next block, so blocks do not fill each other up. */
enum { BLOCK = 16 };

static uint32_t slot_of(uint64_t key, uint32_t mask) {
  const uint64_t hash = hash_number(key / BLOCK);
  return ((uint32_t)hash * BLOCK + (uint32_t)(key + (hash >> 32)) % BLOCK) & mask;
}

/* Returns the slot of the key, or the slot where it belongs; m->slots exists and is not full. */
static struct map_slot *map_find(const struct map *m, uint64_t key) {
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
  struct map_slot *slot = m->slots ? map_find(m, key) : NULL;
  return slot && slot->used ? &slot->value : NULL;
}

static bool grow_slots(struct map *m) {
  const struct map old = *m;
  const uint32_t mask = old.slots ? old.mask * 2 + 1 : 255;
  struct map_slot *slots = mem_zeros(m->mem, (uint64_t)mask + 1, sizeof *slots);
  if (!slots) return false;
  m->slots = slots;
  m->mask = mask;
  for (uint32_t i = 0; old.slots && i <= old.mask; i++)
    if (old.slots[i].used) *map_find(m, old.slots[i].key) = old.slots[i];
  mem_free(m->mem, old.slots);
  return true;
}

uint32_t *map_put(struct map *m, uint64_t key, uint32_t value) {
  struct map_slot *slot = m->slots ? map_find(m, key) : NULL;
  if (slot && slot->used) return &slot->value;
  if (!slot || m->n >= m->mask / 2) {
    if (!grow_slots(m)) return NULL;
    slot = map_find(m, key);
  }
  *slot = (struct map_slot){key, value, 1};
  m->n++;
  return &slot->value;
}
