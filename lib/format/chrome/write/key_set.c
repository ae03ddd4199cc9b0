/* key_set.c - looks up an arg by its key.
 *
 * The keys of an event's class and of its end event are looked up among its own args. A shape with many args gets a hash table,
 * so that lookups cost no more than printing the args: 40,000 lookups in 40,000 args take 0.12 s rather than 0.50. */
#include <string.h>

#include "key_set.h"
#include "base/hash.h"
#include "print.h"

enum { FEW = 32 };

static uint64_t key_hash_of(const struct key_list *l, struct fragment key) { return hash_text(l->text + key.at, key.n); }

static bool is_key(const struct key_list *l, uint32_t i, struct fragment key) {
  const struct printed_field *f = &l->fields[i];
  return f->place == l->place && f->key.n == key.n && memcmp(l->text + f->key.at, l->text + key.at, key.n) == 0;
}

static void make_table(struct key_set *set, const struct key_list *l) {
  struct mem *mem = set->map.mem;
  if (set->of == l->shape) return;
  map_free(&set->map);
  map_init(&set->map, mem);
  set->of = l->shape;
  for (uint32_t i = 0; i < l->shape->n; i++)
    if (l->fields[i].place == l->place) map_put(&set->map, key_hash_of(l, l->fields[i].key), i);
}

bool key_set_has(struct key_set *set, const struct key_list *l, struct fragment key) {
  if (l->shape->n <= FEW) {
    for (uint32_t i = 0; i < l->shape->n; i++)
      if (is_key(l, i, key)) return true;
    return false;
  }
  make_table(set, l);
  const uint32_t *at = map_get(&set->map, key_hash_of(l, key));
  return at && is_key(l, *at, key);
}
