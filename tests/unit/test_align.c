/* test_align.c - fitting a curve to noisy points, and applying a time map to a graph. */
#include "help.h"

#include <math.h>

#include "graph/seal.h"
#include "align/apply.h"
#include "align/collect/collect.h"
#include "align/solve/pieces.h"

enum { N = 200 };
static struct point points[N];
static double room[2 * N];

static double noise(int i) { return (double)((i * 7919 + 13) % 7) * 500; } /* 0 .. 3 us */

static struct curve fitted(uint32_t n) {
  struct pieces fit;
  struct curve c;
  pieces_line(&fit, points, n, room);
  pieces_split(&fit, points, n, room);
  pieces_curve(&fit, points, &c);
  return c;
}

static void constants(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) points[i] = (struct point){i * 1e4, 5e6 + noise(i) + (i % 3 == 0 ? 4e8 : 0)};
  struct curve c = fitted(N);
  assert_true(fabs(curve_at(&c, 0) - 5e6 - 1500) < 500); /* a third of the points is 400 ms late and must have no influence */
  assert_true(curve_at(&(struct curve){0}, 77) == 0);
  points[0] = (struct point){3, 42};
  c = fitted(1);
  assert_true(curve_at(&c, 1e9) == 42);
}

static void lines(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) points[i] = (struct point){i * 1e8, -7e6 + i * 1e8 * 20e-6 + noise(i) + (i % 4 == 0 ? 1e7 : 0)};
  struct curve c = fitted(N);
  assert_int_equal(c.n, 2);
  assert_true(fabs(curve_slope(&c) - 20e-6) < 0.1e-6);
  assert_true(fabs(curve_at(&c, 1e10) - (-7e6 + 1e10 * 20e-6) - 1500) < 500);
}

static void slews(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) {
    double x = i * 1e9, bent = i > 100 ? (i - 100) * 1e9 * 50e-6 : 0;
    points[i] = (struct point){x, bent + noise(i)};
  }
  struct curve c = fitted(N);
  assert_true(c.n > 2);
  assert_true(fabs(curve_at(&c, 50e9)) < 4000);
  assert_true(fabs(curve_at(&c, 180e9) - 80e9 * 50e-6) < 4000);
}

/* Checks that jumps of the clock are found, also near either end, with only a few points on one side. */
static void jumps(void **state) {
  static const int at[] = {3, 100, 150, N - 3};
  (void)state;
  for (size_t k = 0; k < LENGTH(at); k++) {
    for (int i = 0; i < N; i++) points[i] = (struct point){i * 5e6, noise(i) + (i >= at[k] ? 100e3 : 0)};
    struct curve c = fitted(N);
    assert_true(c.n >= 3);
    for (int i = 0; i < N; i++) assert_true(fabs(curve_at(&c, points[i].x) - (i >= at[k] ? 100e3 : 0) - 1500) < 2500);
  }
}

/* Checks that points which are late independently are not taken for a jump. */
static void late_points(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) points[i] = (struct point){i * 5e6, noise(i) + (i * 7919 % 10 < 2 ? 50e3 + (i * 104729 % 997) * 1e3 : 0)};
  struct curve c = fitted(N);
  assert_true(c.n <= 2);
}

static struct tk_trace *nested(void) {
  return feed_text("{\"baseTimeNanoseconds\":1000000000,\"traceEvents\":["
                   "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1000000},"
                   "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":500000},"
                   "{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":1,\"ts\":500000,\"dur\":500000},"
                   "{\"ph\":\"s\",\"name\":\"f\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":500000},"
                   "{\"ph\":\"C\",\"name\":\"n\",\"pid\":1,\"ts\":900000,\"args\":{\"v\":1}}]}");
}

static void a_constant_moves_the_origin(void **state) {
  struct tk_trace *t = nested();
  struct align_map m = {.offset_ns = 2500, .curve = {.n = 1, .y = {0.4}}};
  struct tk_err err = {0};
  int64_t origin = t->origin_ns;
  tk_time ts = t->events[2].ts;
  (void)state;
  assert_true(align_apply(t, &m, 100, &err));
  assert_int_equal(t->origin_ns, origin + 100 - 2500);
  assert_int_equal(t->events[2].ts, ts);
  tk_free(t);
}

static void a_line_moves_both_ends(void **state) {
  struct tk_trace *t = nested();
  /* The clock is 100 ppm fast from its reading of 1 s on, where it is 2 us ahead. */
  struct align_map m = {.pivot_ns = 1000000000, .offset_ns = 2000, .curve = {.n = 2, .x = {0, 1e9}, .y = {0, 1e5}}};
  struct tk_err err = {0};
  int64_t before = t->origin_ns;
  (void)state;
  assert_true(align_apply(t, &m, 0, &err));
  assert_int_equal(t->origin_ns, before - 2000);
  for (tk_id i = 1; i <= t->n_events; i++)
    if (t->events[i].dur > 600000000000) assert_int_equal(t->events[i].dur, 999900000000);
    else if (t->events[i].kind == TK_EVENT_SPAN) assert_int_equal(t->events[i].dur, 499950000000);
  assert_true(tk_check(t, &err));
  tk_free(t);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Checks that selecting the k-th smallest element agrees with sorting, for descending, ascending and mixed values with many
 * duplicates. */
static void selects_as_sorting_does(void **state) {
  uint32_t seed = 1;
  (void)state;
  for (uint32_t n = 1; n < 300; n++) {
    double v[300], sorted[300];
    for (uint32_t i = 0; i < n; i++) {
      seed = seed * 1664525 + 1013904223;
      sorted[i] = n % 4 == 0 ? i : n % 4 == 1 ? n - i : (double)(seed >> 16) / (n % 4 == 2 ? 1 : 16384);
    }
    uint32_t k = seed % n;
    memcpy(v, sorted, sizeof v);
    qsort(sorted, n, sizeof *sorted, by_value);
    assert_true(curve_nth(v, n, k) == sorted[k]);
    for (uint32_t i = 0; i < k; i++) assert_true(v[i] <= v[k]);
    assert_true(curve_median(v, n) == (sorted[(n - 1) / 2] + sorted[n / 2]) / 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(selects_as_sorting_does),
      cmocka_unit_test(constants), cmocka_unit_test(lines), cmocka_unit_test(slews),
      cmocka_unit_test(jumps), cmocka_unit_test(late_points),
      cmocka_unit_test(a_constant_moves_the_origin), cmocka_unit_test(a_line_moves_both_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
