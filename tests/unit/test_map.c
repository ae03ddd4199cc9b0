/* test_map.c - every key finds its value, whatever the keys. */
#include "help.h"

static void keys(uint64_t step) {
  struct mem m = {0};
  struct map map;
  map_init(&map, &m);
  assert_null(map_get(&map, 0));
  for (uint32_t i = 0; i < 50000; i++) {
    uint32_t *v = map_put(&map, i * step, i);
    assert_non_null(v);
    assert_int_equal(*v, i);
  }
  for (uint32_t i = 0; i < 50000; i++) {
    assert_int_equal(*map_get(&map, i * step), i);
    assert_int_equal(*map_put(&map, i * step, 7), i);
  }
  assert_null(map_get(&map, 50001 * step));
  assert_int_equal(map.n, 50000);
  *map_get(&map, 0) = 99;
  assert_int_equal(*map_get(&map, 0), 99);
  map_free(&map);
  assert_int_equal(m.used, 0);
}

static void all_keys(void **state) {
  (void)state;
  keys(1);
  keys(1ull << 32); /* equal lower halves */
  keys(0x9e3779b97f4a7c15u);
  keys(UINT64_MAX);
}

static void out_of_memory(void **state) {
  struct mem m = {.limit = 10000};
  struct map map;
  uint32_t n = 0;
  (void)state;
  map_init(&map, &m);
  while (map_put(&map, n, n)) n++;
  assert_true(m.failed);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(*map_get(&map, i), i);
  map_free(&map);
  assert_int_equal(m.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_keys), cmocka_unit_test(out_of_memory)};
  return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
