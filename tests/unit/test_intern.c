/* test_intern.c - equal bytes get one id, different bytes get different ids, and strings do not move. */
#include "help.h"

static void ids(void **state) {
  struct mem m = {0};
  struct intern in;
  const uint8_t *first;
  (void)state;
  intern_init(&in, &m);
  assert_int_equal(intern(&in, "a", 1), 1);
  assert_int_equal(intern(&in, "", 0), 2);
  assert_int_equal(intern(&in, "a\0b", 3), 3);
  assert_int_equal(intern(&in, "a\0c", 3), 4);
  first = in.strs[1].bytes;
  for (int i = 0; i < 200000; i++) {
    char text[32];
    int n = snprintf(text, sizeof text, "string %d", i);
    assert_int_equal(intern(&in, text, (size_t)n), 5 + (uint32_t)i);
  }
  assert_int_equal(intern(&in, "a", 1), 1);
  assert_int_equal(intern(&in, "", 0), 2);
  assert_int_equal(intern(&in, "string 77", 9), 5 + 77);
  assert_ptr_equal(in.strs[1].bytes, first);
  assert_int_equal(in.strs[3].len, 3);
  assert_int_equal(in.strs[3].bytes[3], 0); /* NUL-terminated */
  assert_int_equal(intern_find(&in, "none", 4, (uint32_t)hash_text("none", 4)), 0);
  intern_free(&in);
  assert_int_equal(m.used, 0);
}

/* Different strings with equal hashes get different ids. */
static void collisions(void **state) {
  struct mem m = {0};
  struct intern in;
  (void)state;
  intern_init(&in, &m);
  for (uint32_t i = 0; i < 2000; i++) assert_int_equal(intern_add(&in, &i, sizeof i, 42), i + 1);
  for (uint32_t i = 0; i < 2000; i++) assert_int_equal(intern_find(&in, &i, sizeof i, 42), i + 1);
  intern_free(&in);
}

/* The hash reads exactly the given bytes (checked by a sanitizer) and depends on all of them. */
static void hashing(void **state) {
  (void)state;
  for (size_t n = 0; n < 100; n++) {
    uint8_t *p = malloc(n + 1), *exact = malloc(n ? n : 1);
    assert_non_null(p);
    assert_non_null(exact);
    for (size_t i = 0; i < n; i++) p[i] = exact[i] = (uint8_t)(i * 31);
    p[n] = 77;
    assert_true(hash_bytes(p, n) == hash_bytes(exact, n));
    if (n) assert_true(hash_bytes(p, n) != hash_bytes(p, n - 1));
    for (size_t i = 0; i < n; i++) {
      p[i] ^= 1;
      assert_true(hash_bytes(p, n) != hash_bytes(exact, n));
      p[i] ^= 1;
    }
    free(p);
    free(exact);
  }
}

static void out_of_memory(void **state) {
  (void)state;
  for (uint64_t limit = 1; limit < 200000; limit += 4093) {
    struct mem m = {.limit = limit};
    struct intern in;
    uint32_t id = 1, n = 0;
    intern_init(&in, &m);
    while (id && n < 100000) id = intern(&in, &n, sizeof n), n += id != 0;
    assert_true(m.failed);
    for (uint32_t i = 0; i < n; i += 97)
      assert_int_equal(intern_find(&in, &i, sizeof i, (uint32_t)hash_text(&i, sizeof i)), i + 1);
    intern_free(&in);
    assert_int_equal(m.used, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ids), cmocka_unit_test(collisions), cmocka_unit_test(hashing), cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
