/* test_hash.c - different texts have different hashes, also if they are short: some tables take equal hashes for equal keys. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

typedef uint64_t (*hash_fn)(const void *p, size_t n);

/* Adds a text to a map by its hash. Fails if another text has the same hash. */
static void add(struct map *map, hash_fn hash, const char *text, size_t n) {
  const uint32_t number = map->n;
  const uint32_t *slot = map_put(map, hash(text, n), number);
  assert_non_null(slot);
  if (*slot != number) fail_msg("%.*s has the hash of text %u", (int)n, text, *slot);
}

static void texts(hash_fn hash) {
  struct mem m = {0};
  struct map map;
  char text[64];
  map_init(&map, &m);
  for (uint32_t i = 0; i < 200000; i++) add(&map, hash, text, (size_t)snprintf(text, sizeof text, "%u", i));
  for (uint32_t i = 0; i < 20000; i++) add(&map, hash, text, (size_t)snprintf(text, sizeof text, "n%u", i));
  for (uint32_t i = 0; i < 2000; i++) add(&map, hash, text, (size_t)snprintf(text, sizeof text, "\"%u\"", i));
  for (uint32_t i = 0; i < 1 << 16; i++) add(&map, hash, (char[]){(char)(i >> 8), (char)i, 1}, 3);
  for (size_t n = 1; n < sizeof text; n++) {
    memset(text, 'a', n);
    add(&map, hash, text, n);
    text[n - 1] = '`'; /* differs from 'a' in one bit */
    add(&map, hash, text, n);
  }
  map_free(&map);
}

static void no_collisions(void **state) {
  (void)state;
  texts(hash_text);
  texts(hash_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_collisions)};
  return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
