/* test_piles.c - piles sort elements, in any order, as qsort does by group, time and position in the file. */
#include "graph/piles.h"
#include "help.h"

#include <stddef.h>

struct elem {
  tk_time ts;
  uint32_t group, number; /* position in the file, from 1; 0 = dropped */
  uint64_t more[2];
};

_Static_assert(sizeof(struct elem) == PILE_ELEM, "as piles have them");

static uint32_t rng_state = 1;
static uint32_t rng(uint32_t n) { return (rng_state = rng_state * 1664525 + 1013904223, rng_state >> 8) % n; }

static int by_place(const void *a, const void *b) {
  const struct elem *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Orders of time that producers write, and orders that no producer should write. */
enum shape { SORTED, TWO_RUNS, NESTED, RANDOM, REVERSED, EQUAL, FEW_TIMES, FAR, SHAPES };

static tk_time time_of(enum shape shape, uint32_t i, uint32_t n) {
  switch (shape) {
  case SORTED: return i;
  case TWO_RUNS: return i % 2 ? i : (tk_time)n + i;
  case NESTED: return (tk_time)(i / 100) * 100 + 99 - i % 100;
  case REVERSED: return (tk_time)n - i;
  case EQUAL: return 7;
  case FEW_TIMES: return rng(5);
  case FAR: return rng(3) ? rng(1000) : rng(2) ? INT64_MIN : INT64_MAX;
  default: return ((tk_time)rng(1u << 24) << 24) + rng(1u << 24);
  }
}

static uint32_t fill(struct elem *e, uint32_t n, uint32_t n_groups, bool grouped, bool some_go) {
  uint32_t kept = 0;
  enum shape shapes[40];
  for (uint32_t g = 0; g < n_groups; g++) shapes[g] = (enum shape)rng(SHAPES);
  for (uint32_t i = 1; i <= n; i++) {
    const uint32_t group = grouped ? (uint32_t)((uint64_t)(i - 1) * n_groups / n) : rng(n_groups);
    const bool goes = some_go && rng(5) == 0;
    e[i] = (struct elem){time_of(shapes[group], i, n), group, goes ? 0 : i, {i, ~(uint64_t)i}};
    kept += !goes;
  }
  return kept;
}

static void settle(struct elem **e, uint32_t n, uint32_t n_groups, bool grouped, uint32_t *was) {
  struct mem mem = {0};
  struct piles piles;
  struct pile_array a = {.items = *e, .n = n, .group_at = offsetof(struct elem, group), .grouped = grouped, .was = was};
  assert_true(piles_init(&piles, &mem, n_groups, n));
  for (uint32_t i = 1; i <= n; i++)
    if ((*e)[i].number) piles_put(&piles, i, (*e)[i].group, (*e)[i].ts);
  assert_true(piles_settle(&piles, &a));
  piles_free(&piles);
  if (grouped) assert_ptr_equal(a.items, *e);
  *e = a.items;
}

static void one(uint32_t n, uint32_t n_groups, bool grouped, bool some_go, bool with_was) {
  struct mem mem = {0};
  struct elem *e = mem_array(&mem, (uint64_t)n + 1, sizeof *e), *want = malloc(((size_t)n + 1) * sizeof *want);
  uint32_t *was = with_was ? calloc((size_t)n + 1, sizeof *was) : NULL, kept = 0;
  assert_true(e && want && (was || !with_was));
  e[0] = (struct elem){0};
  fill(e, n, n_groups, grouped, some_go);
  for (uint32_t i = 1; i <= n; i++)
    if (e[i].number) want[kept++] = e[i];
  qsort(want, kept, sizeof *want, by_place);
  settle(&e, n, n_groups, grouped, was);
  for (uint32_t i = 0; i < kept; i++) {
    if (memcmp(&e[i + 1], &want[i], sizeof *want) != 0)
      fail_msg("n %u, groups %u: element %u is number %u, not %u", n, n_groups, i, e[i + 1].number, want[i].number);
    if (was) assert_int_equal(was[i + 1], want[i].number);
  }
  mem_free(&mem, e);
  free(want);
  free(was);
}

static void as_qsort(void **unused) {
  (void)unused;
  for (int round = 0; round < 400; round++) {
    const uint32_t n = 1 + rng(round % 20 ? 2000 : 60000), n_groups = 1 + rng(round % 3 ? 3 : 40);
    const bool grouped = rng(2);
    one(n, n_groups, grouped, !grouped && rng(2), rng(2));
  }
}

static void nothing(void **unused) {
  (void)unused;
  one(1, 1, true, false, true);
  one(1, 40, false, true, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_qsort), cmocka_unit_test(nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
