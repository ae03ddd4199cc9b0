/* test_mem.c - allocation respects the memory limit; after a failure all allocations fail, and existing data stays valid. */
#include "help.h"

static void budget(void **state) {
  struct mem m = {.limit = 1000};
  struct tk_err err = {0};
  char *p = mem_alloc(&m, 600);
  (void)state;
  assert_non_null(p);
  p[599] = 'x';
  assert_null(mem_resize(&m, p, 1001));
  assert_true(m.failed);
  assert_int_equal(p[599], 'x');
  assert_int_equal(m.used, 600);
  assert_false(mem_check(&m, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  assert_int_equal(err.option, TK_OPTION_MAX_MEMORY);
  mem_free(&m, p);
  assert_int_equal(m.used, 0);
  assert_int_equal(m.peak, 600);
  assert_true(m.failed);
}

static void whole_budget(void **state) {
  struct mem m = {.limit = 1000};
  char *p = mem_alloc(&m, 1000);
  (void)state;
  assert_non_null(p);
  assert_true(mem_check(&m, NULL));
  p = mem_resize(&m, p, 500);
  assert_int_equal(m.used, 500);
  mem_free(&m, p);
}

static void arrays(void **state) {
  struct mem m = {0};
  uint32_t *a = NULL, cap = 0;
  (void)state;
  for (uint32_t n = 1; n < 10000; n++) {
    assert_true(mem_grow(&m, (void **)&a, &cap, n, sizeof *a));
    assert_true(cap >= n);
    a[n - 1] = n;
  }
  for (uint32_t n = 1; n < 10000; n++) assert_int_equal(a[n - 1], n);
  assert_int_equal(m.used, (uint64_t)cap * sizeof *a);
  assert_false(mem_grow(&m, (void **)&a, &cap, UINT32_MAX, sizeof *a)); /* ids are 32-bit */
  assert_true(m.failed);
  assert_true(mem_grow(&m, (void **)&a, &cap, 10, sizeof *a));         /* fits already */
  assert_false(mem_grow(&m, (void **)&a, &cap, cap + 1ull, sizeof *a)); /* failure is sticky */
  mem_free(&m, a);
  assert_int_equal(m.used, 0);
}

/* A large array keeps its contents when it grows beyond its allocated size and after it has shrunk. */
static void large_arrays(void **state) {
  enum { MB = 1 << 20 };
  struct mem m = {0};
  uint8_t *a = NULL;
  uint32_t cap = 0;
  (void)state;
  for (uint32_t n = 1; n <= 160 * MB; n += MB / 2) {
    assert_true(mem_grow(&m, (void **)&a, &cap, n, 1));
    a[n - 1] = (uint8_t)(n / MB + 1);
  }
  for (uint32_t n = 1; n <= 160 * MB; n += MB / 2) assert_int_equal(a[n - 1], (uint8_t)(n / MB + 1));
  a = mem_resize(&m, a, 6 * MB);
  assert_int_equal(m.used, 6 * MB);
  assert_int_equal(a[5 * MB], 6);
  a = mem_resize(&m, a, 600u * MB);
  assert_int_equal(a[5 * MB], 6);
  a[600u * MB - 1] = 1;
  mem_free(&m, a);
  assert_int_equal(m.used, 0);
}

static bool is_clear(const void *p, size_t n) {
  const uint8_t *bytes = p;
  while (n && bytes[n - 1] == 0) n--;
  return n == 0;
}

static void zeros(void **state) {
  struct mem m = {.limit = 100000};
  struct arena a = {.mem = &m};
  void *p = mem_array(&m, 1000, 8), *q;
  (void)state;
  memset(p, 0xff, 8000);
  mem_free(&m, p);
  p = mem_zeros(&m, 1000, 8); /* usually the same block */
  assert_true(is_clear(p, 8000));
  memset(arena_bytes(&a, 1001), 0xff, 1001);
  q = arena_zeros(&a, 100, 12);
  assert_true(is_clear(q, 1200));
  assert_int_equal((uintptr_t)q % 16, 0);
  assert_null(arena_zeros(&a, SIZE_MAX / 2, 3));
  assert_false(m.failed);
  assert_null(mem_zeros(&m, UINT64_MAX, 8));
  assert_true(m.failed);
  mem_free(&m, p);
  arena_free(&a);
  assert_int_equal(m.used, 0);
}

static void bufs(void **state) {
  struct mem m = {.limit = 100000};
  struct buf b = {.mem = &m};
  (void)state;
  assert_true(buf_append(&b, NULL, 0));
  for (unsigned i = 0; i < 50000; i++) assert_true(buf_append(&b, &(uint8_t){(uint8_t)i}, 1));
  for (unsigned i = 0; i < 50000; i++) assert_int_equal(b.data[i], (uint8_t)i);
  assert_null(buf_reserve(&b, SIZE_MAX / 2));
  assert_null(buf_reserve(&b, 60000));
  assert_true(m.failed);
  assert_int_equal(b.len, 50000);
  buf_free(&b);
  buf_free(&b);
  assert_int_equal(m.used, 0);
}

static void arenas(void **state) {
  struct mem m = {0};
  struct arena a = {.mem = &m};
  uint8_t *p[300];
  (void)state;
  for (size_t i = 0; i < LENGTH(p); i++) {
    size_t n = i * i + 1;
    p[i] = i % 2 ? arena_alloc(&a, n) : arena_bytes(&a, n);
    assert_non_null(p[i]);
    if (i % 2) assert_int_equal((uintptr_t)p[i] % 16, 0);
    memset(p[i], (int)i, n);
  }
  for (size_t i = 1; i < LENGTH(p); i++) {
    assert_int_equal(p[i][0], (uint8_t)i);
    assert_int_equal(p[i][i * i], (uint8_t)i);
  }
  assert_null(arena_alloc(&a, SIZE_MAX));
  assert_null(arena_bytes(&a, SIZE_MAX));
  arena_free(&a);
  assert_int_equal(m.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(budget), cmocka_unit_test(whole_budget), cmocka_unit_test(arrays), cmocka_unit_test(large_arrays),
      cmocka_unit_test(zeros),  cmocka_unit_test(bufs),         cmocka_unit_test(arenas),
  };
  return cmocka_run_group_tests_name("mem", tests, NULL, NULL);
}
