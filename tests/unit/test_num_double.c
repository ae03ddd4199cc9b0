/* test_num_double.c - doubles to text and back, compared with the C library in the C locale, which also rounds exactly. */
#include "help.h"

#include <float.h>
#include <math.h>

#include "base/num_pow10.h"

/* The midpoint between two doubles needs one bit more than a double has. */
_Static_assert(LDBL_MANT_DIG > DBL_MANT_DIG, "the tests of halves need a long double that is longer than double");

static uint64_t state = 1;
static uint64_t random_bits(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state ^ state >> 29;
}

static double of_bits(uint64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static uint64_t bits_of(double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  return bits;
}

static int runs(int n) { return long_run() ? 30 * n : n; }

/* ---- powers of ten ---- */

enum { WORDS = 24 };

static void take_first_128(const uint64_t *w, struct num_pow10 *first) {
  int top = WORDS - 1;
  while (!w[top]) top--;
  int zeros = __builtin_clzll(w[top]);
  uint64_t a = w[top], b = top > 0 ? w[top - 1] : 0, c = top > 1 ? w[top - 2] : 0;
  first->hi = zeros ? a << zeros | b >> (64 - zeros) : a;
  first->lo = zeros ? b << zeros | c >> (64 - zeros) : b;
}

static void check_power(const uint64_t *w, int k, int lowest_bit) {
  struct num_pow10 want, got = num_pow10(k);
  int top = WORDS - 1;
  while (!w[top]) top--;
  take_first_128(w, &want);
  if (got.hi != want.hi || got.lo != want.lo) fail_msg("10^%d is wrong", k);
  assert_int_equal(num_pow10_exp(k), 64 * top + 63 - __builtin_clzll(w[top]) + lowest_bit);
}

/* Checks the table of powers against exact arithmetic: 10^k by multiplication from 1, and 10^-k as 2^1408 / 10^k by division,
 * which keeps 240 bits. */
static void powers_of_ten(void **unused) {
  uint64_t up[WORDS] = {1}, down[WORDS] = {[22] = 1};
  (void)unused;
  for (int k = 0; k <= NUM_POW10_MAX; k++) {
    u128 v = 0;
    check_power(up, k, 0);
    for (int i = 0; i < WORDS; i++) up[i] = (uint64_t)(v = (v >> 64) + (u128)up[i] * 10);
  }
  for (int k = 0; k >= NUM_POW10_MIN; k--) {
    u128 rest = 0;
    check_power(down, k, -64 * 22);
    for (int i = WORDS - 1; i >= 0; i--) {
      rest = rest % 10 << 64 | down[i];
      down[i] = (uint64_t)(rest / 10);
    }
  }
}

/* ---- printing ---- */

/* Prints with the shortest of "%.15g", "%.16g" and "%.17g" that reads back exactly. */
static void print_by_c(char *text, double d) {
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(text, 32, "%.*g", precision, d);
    if (strtod(text, NULL) == d) return;
  }
}

/* Compares our text of d with the C library's text. Our text may differ only for subnormals and powers of two, and only if it is
 * shorter. */
static void check_print(double d) {
  char got[40], want[40];
  size_t n = num_put_double(got, d);
  assert_true(n <= 32);
  got[n] = 0;
  if (bits_of(num_double(got, n)) != bits_of(d)) fail_msg("%a: we do not read %s back", d, got);
  print_by_c(want, d);
  if (strcmp(got, want) == 0) return;
  bool odd = fabs(d) < DBL_MIN || (bits_of(d) << 12) == 0;
  if (!odd || strtod(got, NULL) != d || strlen(got) >= strlen(want)) fail_msg("%a: %s, not %s", d, got, want);
}

static void check_around(double d, void (*check)(double)) {
  for (int i = -3; i <= 3; i++) {
    double near = of_bits(bits_of(d) + (uint64_t)(int64_t)i);
    if (near - near == 0) check(near), check(-near);
  }
}

static void prints_as_it_should(void **unused) {
  static const struct { double d; const char *text; } values[] = {
      {0, "0"}, {-0.0, "-0"}, {1, "1"}, {-2.5, "-2.5"}, {0.1, "0.1"}, {100, "100"}, {1e14, "100000000000000"}, {1e15, "1e+15"},
      {123456789012345678.0, "1.2345678901234568e+17"}, {12345678901234567.0, "12345678901234568"}, {1e300, "1e+300"}, {1e-7, "1e-07"},
      {0.0001, "0.0001"}, {0.00001234, "1.234e-05"}, {0.30000000000000004, "0.30000000000000004"}, {1.0 / 3, "0.3333333333333333"},
      {1.7976931348623157e308, "1.7976931348623157e+308"}, {5e-324, "5e-324"}, {0x1p-44, "5.684341886080802e-14"},
      {9007199254740993.0, "9007199254740992"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}, {NAN, "nan"}};
  char text[40];
  (void)unused;
  for (size_t i = 0; i < LENGTH(values); i++) {
    text[num_put_double(text, values[i].d)] = 0;
    assert_string_equal(text, values[i].text);
  }
}

static void prints_edges(void **unused) {
  (void)unused;
  for (int e = -1074; e < 1024; e++) check_around(ldexp(1, e), check_print);
  for (int e = -323; e <= 308; e++) {
    char text[16];
    snprintf(text, sizeof text, "1e%d", e);
    check_around(strtod(text, NULL), check_print);
  }
}

static double random_double(int i) {
  double d;
  switch (i % 5) {
  case 0: return of_bits(random_bits() & 0x800fffffffffffff); /* subnormal */
  case 1: return (double)(int64_t)(random_bits() >> (random_bits() & 63)) / 1000;
  case 2: return (double)(random_bits() % 1000000) / 1e6;
  default: d = of_bits(random_bits());
  }
  return d - d == 0 ? d : 1;
}

static void prints_random(void **unused) {
  (void)unused;
  for (int i = 0; i < runs(100000); i++) check_print(random_double(i));
}

static void reads_back(void **unused) {
  char text[40];
  (void)unused;
  for (int i = 0; i < runs(1000000); i++) {
    double d = random_double(4);
    size_t n = num_put_double(text, d);
    if (bits_of(num_double(text, n)) != bits_of(d)) fail_msg("%a: %.*s", d, (int)n, text);
  }
}

/* ---- reading ---- */

static void check_read(const char *text) {
  double got = num_double(text, strlen(text)), want = strtod(text, NULL);
  if (bits_of(got) != bits_of(want)) fail_msg("%.80s: %a, not %a", text, got, want);
}

static void reads_as_it_should(void **unused) {
  static const char *const texts[] = {
      "", "0", "-0", "-0.0e5", "+1", "5.", ".5", "1e", "1e+", "1e-", "1.5e3x", "123.456.7", "007", "1,5", "9007199254740993",
      "9007199254740993.00000000000000000000000000001", "4503599627370496.5", "4503599627370497.5", "1e308", "1e309", "-1e309",
      "1e99999999999999999999", "1e-99999999999999999999", "0e99999999999999999999", "2.4703282292062327e-324",
      "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623158e308",
      "1.7976931348623159e308", "0.000000000000000000000000000000000000000000000000000000000000000000001e69"};
  char text[2400];
  (void)unused;
  for (size_t i = 0; i < LENGTH(texts); i++) check_read(texts[i]);
  assert_true(num_double("1.25", 3) == 1.2); /* reads only the given bytes */
  for (int zeros = 0; zeros < 2000; zeros += 37) {
    snprintf(text, sizeof text, "0.%0*d7e%d", zeros + 1, 0, zeros);
    check_read(text);
    snprintf(text, sizeof text, "7%0*de-%d", zeros + 1, 0, zeros);
    check_read(text);
  }
}

static void reads_random(void **unused) {
  (void)unused;
  for (int e = -345; e <= 310; e++) {
    for (int i = 0; i < runs(100); i++) {
      char text[40];
      snprintf(text, sizeof text, "%llue%d", (unsigned long long)(random_bits() >> (random_bits() & 63)), e);
      check_read(text);
      int64_t mant = strtoll(text, NULL, 10); /* strtoll saturates if the number does not fit */
      snprintf(text, sizeof text, "%llde%d", (long long)-mant, e);
      assert_true(num_nearest(-mant, e) == strtod(text, NULL) && num_nearest(mant, e) == -strtod(text, NULL));
    }
  }
}

/* Checks reading of a midpoint's exact decimal text, and of texts very close to it: with more digits, with an additional digit far
 * behind the others, with a smaller last digit. */
static void check_half(long double half) {
  char text[1300], beside[2400], tail[16];
  int n = snprintf(text, sizeof text, "%.1100Lg", half);
  char *exp = strchr(text, 'e');
  assert_true(n < (int)sizeof text);
  check_read(text);
  if (!strchr(text, '.')) return;
  snprintf(tail, sizeof tail, "%s", exp ? exp : "");
  if (exp) *exp = 0;
  snprintf(beside, sizeof beside, "%s0001%s", text, tail);
  check_read(beside);
  snprintf(beside, sizeof beside, "%s%0900d1%s", text, 0, tail);
  check_read(beside);
  snprintf(beside, sizeof beside, "%s%0900d%s", text, 0, tail);
  check_read(beside);
  text[strlen(text) - 1]--; /* the last digit is a 5 */
  snprintf(beside, sizeof beside, "%s999%s", text, tail);
  check_read(beside);
  for (int digits = 15; digits < 40; digits++) {
    snprintf(text, sizeof text, "%.*Lg", digits, half);
    check_read(text);
  }
}

static void check_half_above(double d) {
  double next = of_bits(bits_of(d) + 1);
  if (next - next == 0) check_half(((long double)d + (long double)next) / 2);
}

static void reads_halves(void **unused) {
  (void)unused;
  check_half_above(0);
  for (int e = -1074; e < 1024; e += 7) check_half_above(ldexp(1, e));
  for (int i = 0; i < runs(1000); i++) {
    double d = fabs(random_double(i));
    if (d > 0) check_half_above(d);
  }
  /* A value half a step or more beyond the greatest double becomes infinity. */
  check_half((long double)DBL_MAX + (long double)0x1p970);
}

/* ---- a fixed number of decimals ---- */

static void check_fixed(double d) {
  char want[512];
  if (fabs(d) >= 1e35) return;
  for (unsigned decimals = 0; decimals <= 9; decimals++) {
    snprintf(want, sizeof want, "%.*f", (int)decimals, d);
    if (strcmp(num_fixed(d, decimals).s, want) != 0) fail_msg("%a: %s, not %s", d, num_fixed(d, decimals).s, want);
  }
}

static void fixed_as_printf(void **unused) {
  (void)unused;
  for (int e = -1074; e < 1024; e++) check_around(ldexp(1, e), check_fixed);
  for (int e = -20; e < 35; e++) check_around(pow(10, e), check_fixed);
  for (int i = 0; i < runs(20000); i++) {
    check_fixed(random_double(i));
    check_fixed(ldexp((double)(random_bits() % 65536), -(int)(random_bits() % 17))); /* midpoints at all decimal places */
  }
}

static void fixed_beyond(void **unused) {
  (void)unused;
  assert_string_equal(num_fixed(1e35, 3).s, "1e+35");
  assert_string_equal(num_fixed(-1e300, 3).s, "-1e+300");
  assert_string_equal(num_fixed(INFINITY, 3).s, "inf");
  assert_string_equal(num_fixed(NAN, 1).s, "nan");
  assert_string_equal(num_fixed(-0.0001, 3).s, "-0.000");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(powers_of_ten),      cmocka_unit_test(prints_as_it_should), cmocka_unit_test(prints_edges),
    cmocka_unit_test(prints_random),      cmocka_unit_test(reads_back),          cmocka_unit_test(reads_as_it_should),
    cmocka_unit_test(reads_random),       cmocka_unit_test(reads_halves),        cmocka_unit_test(fixed_as_printf),
    cmocka_unit_test(fixed_beyond),
  };
  return cmocka_run_group_tests_name("num_double", tests, NULL, NULL);
}
