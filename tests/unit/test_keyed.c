/* test_keyed.c - tests that sorting indices by key (base/keyed.h) is correct and stable. */
#include "help.h"

#include "base/keyed.h"

static void keys(void **state) {
  enum { N = 4000 };
  static struct keyed v[N], spare[N];
  (void)state;
  for (uint32_t n = 0; n <= N; n += 400) { /* below and above the size from which digits are sorted */
    for (uint32_t i = 0; i < n; i++) v[i] = (struct keyed){(int64_t)(i * 2654435761u % 97) - 50, i};
    const struct keyed *sorted = keyed_sort(v, spare, n);
    for (uint32_t i = 1; i < n; i++) {
      assert_true(sorted[i - 1].key <= sorted[i].key);
      if (sorted[i - 1].key == sorted[i].key) assert_true(sorted[i - 1].index < sorted[i].index);
    }
  }
}

static void lists(void **state) {
  const uint32_t group[] = {2, 0, 2, 4, 0, 2};
  uint32_t first[7], list[6];
  (void)state;
  keyed_lists(group, 6, 5, first, list);
  const uint32_t starts[] = {0, 2, 2, 5, 5, 6}, members[] = {1, 4, 0, 2, 5, 3};
  assert_memory_equal(first, starts, sizeof starts);
  assert_memory_equal(list, members, sizeof members);
  keyed_lists(group, 0, 5, first, list);
  for (uint32_t g = 0; g <= 5; g++) assert_int_equal(first[g], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(lists)};
  return cmocka_run_group_tests_name("keyed", tests, NULL, NULL);
}
