/* test_heap.c - elements come out in order, whatever the order of insertion. */
#include "base/heap.h"
#include "help.h"

enum { N = 1000 };

/* Returns the i-th item to insert. The items have the times 0 to 99, with ten turns for each time, in shuffled order. */
static struct heap_item item(uint32_t i) {
  uint32_t mixed = i * 617 % N;
  return (struct heap_item){.time = mixed % 100, .turn = mixed / 100, .value = mixed};
}

static void in_order(void **state) {
  (void)state;
  struct mem m = {0};
  struct heap h = {.mem = &m};
  for (uint32_t i = 0; i < N; i++) heap_push(&h, item(i));
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(h.items[0].time, i / 10);
    assert_int_equal(heap_pop(&h), (9 - i % 10) * 100 + i / 10);
  }
  assert_int_equal(h.n, 0);
  heap_free(&h);
  assert_int_equal(m.used, 0);
}

static void top_replaced(void **state) {
  (void)state;
  struct mem m = {0};
  struct heap h = {.mem = &m};
  for (uint32_t i = 0; i < N; i++) heap_push(&h, item(i));
  for (uint32_t i = 0; i < N; i++) heap_replace_top(&h, (struct heap_item){.time = 100 + item(i).time, .value = item(i).time});
  for (uint32_t i = 0; i < N; i++) assert_int_equal(heap_pop(&h), i / 10);
  heap_free(&h);
}

static void without_memory(void **state) {
  (void)state;
  struct mem m = {.limit = 1};
  struct heap h = {.mem = &m};
  heap_push(&h, item(0));
  assert_int_equal(h.n, 0);
  assert_true(m.failed);
  heap_free(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(top_replaced), cmocka_unit_test(without_memory)};
  return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
