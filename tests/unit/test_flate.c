/* test_flate.c - the deflated output depends only on the bytes and the level, not on the deflater's address or its previous
 * input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/flate.h"

enum { LEVELS = 6, MOST = 40000, ADDRESSES = 8000, PAD = 70000, ROOM = 64 << 10 };

static uint8_t text[MOST];

/* Makes a text with repeats of bytes near its start. Deflate finds such a match only if its hash table still contains the position of
 * these bytes. */
static void make_text(void) {
  uint32_t r = 1;
  for (size_t i = 0; i < MOST; i++) {
    r = r * 1664525 + 1013904223;
    text[i] = (uint8_t)('0' + (r >> 24) % 64);
  }
  for (size_t i = 60, from = 1; i + 60 < MOST; i += 60, from = from % 3 + 1) memcpy(text + i, text + from, 20);
}

static void deflate_to(struct buf *b, struct deflater *z, size_t n, bool last) {
  size_t made = 1;
  b->len = 0;
  deflater_feed(z, text, n, last);
  for (bool broken = last; made || !broken;) {
    if (!made) deflater_break(z), broken = true;
    assert_non_null(buf_reserve(b, ROOM));
    made = deflater_pull(z, b->data + b->len, ROOM);
    b->len += made;
  }
}

static void check_inflates(const struct buf *b, size_t n) {
  static uint8_t got[MOST + 1];
  z_stream z = {.next_in = b->data, .avail_in = (uInt)b->len, .next_out = got, .avail_out = sizeof got};
  assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
  const int ret = inflate(&z, Z_SYNC_FLUSH);
  assert_true(ret == Z_OK || ret == Z_STREAM_END);
  assert_int_equal(z.total_out, n);
  assert_memory_equal(got, text, n);
  inflateEnd(&z);
}

static void assert_same(const struct buf *a, const struct buf *b) {
  assert_int_equal(a->len, b->len);
  assert_memory_equal(a->data, b->data, b->len);
}

static const size_t sizes[] = {1, 15, 16, 17, 18, 19, 40, 287, 288, 289, 290, 291, 400, 5000, 32767, 32768, 32769, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void test_what_went_before(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct buf first = {.mem = &mem}, again = {.mem = &mem};
  (void)state;
  for (int level = 0; level < LEVELS; level++)
    for (size_t i = 0; i < SIZES; i++)
      for (int last = 0; last < 2; last++) {
        struct deflater *fresh = deflater_open(FLATE_BEST, level, &mem, &err);
        struct deflater *used = deflater_open(FLATE_BEST, level, &mem, &err);
        assert_true(fresh && used);
        deflate_to(&first, fresh, sizes[i], last);
        check_inflates(&first, sizes[i]);
        for (size_t before = 0; before < SIZES; before++) {
          deflate_to(&again, used, sizes[before], false);
          deflate_to(&again, used, sizes[i], false);
          if (!last) assert_same(&again, &first);
        }
        deflate_to(&again, used, sizes[i], last);
        assert_same(&again, &first);
        deflater_close(fresh);
        deflater_close(used);
      }
  buf_free(&first);
  buf_free(&again);
}

/* Allocates each deflater at another address, by placing a block in the memory that the previous one left. */
static void test_addresses(void **state) {
  static const size_t few[] = {40, 400};
  static void *pads[ADDRESSES];
  struct mem mem = {0};
  struct tk_err err = {0};
  struct buf first = {.mem = &mem}, again = {.mem = &mem};
  (void)state;
  for (int level = 0; level < LEVELS; level++)
    for (size_t i = 0; i < 2; i++)
      for (int last = 0; last < 2; last++) {
        for (int k = 0; k < ADDRESSES / (level < 3 ? 1 : 20); k++) {
          struct deflater *z = deflater_open(FLATE_BEST, level, &mem, &err);
          assert_non_null(z);
          deflate_to(k ? &again : &first, z, few[i], last);
          if (k) assert_same(&again, &first);
          deflater_close(z);
          pads[k] = malloc(PAD);
          assert_non_null(pads[k]);
        }
        for (int k = 0; k < ADDRESSES; k++) free(pads[k]), pads[k] = NULL;
      }
  buf_free(&first);
  buf_free(&again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_went_before),
      cmocka_unit_test(test_addresses),
  };
  make_text();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
