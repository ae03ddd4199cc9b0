#include "map.h"

#include <string.h>

#include "hash.h"

static uint32_t slot_of(uint64_t key, uint32_t mask) { return (uint32_t)hash_number(key) & mask; }

void map_init(struct map *m, struct mem *mem) { *m = (struct map){.mem = mem}; }

void map_free(struct map *m) {
  mem_free(m->mem, m->slots);
  *m = (struct map){0};
}

uint32_t *map_get(const struct map *m, uint64_t key) {
  if (!m->slots) return NULL;
  for (uint32_t at = slot_of(key, m->mask); m->slots[at].used; at = (at + 1) & m->mask)
    if (m->slots[at].key == key) return &m->slots[at].value;
  return NULL;
}

static bool grow_slots(struct map *m) {
  uint32_t mask = m->slots ? m->mask * 2 + 1 : 255;
  struct map_slot *slots = mem_array(m->mem, (uint64_t)mask + 1, sizeof *slots);
  if (!slots) return false;
  memset(slots, 0, ((size_t)mask + 1) * sizeof *slots);
  for (uint32_t i = 0; m->slots && i <= m->mask; i++) {
    uint32_t at;
    if (!m->slots[i].used) continue;
    for (at = slot_of(m->slots[i].key, mask); slots[at].used; at = (at + 1) & mask) {}
    slots[at] = m->slots[i];
  }
  mem_free(m->mem, m->slots);
  m->slots = slots;
  m->mask = mask;
  return true;
}

uint32_t *map_put(struct map *m, uint64_t key, uint32_t value) {
  uint32_t *old = map_get(m, key), at;
  if (old) return old;
  if ((!m->slots || m->n >= m->mask / 2) && !grow_slots(m)) return NULL;
  for (at = slot_of(key, m->mask); m->slots[at].used; at = (at + 1) & m->mask) {}
  m->slots[at] = (struct map_slot){key, value, 1};
  m->n++;
  return &m->slots[at].value;
}
