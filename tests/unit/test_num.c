/* test_num.c - numbers are exact: reading, scaling and printing, compared with tables and with each other. */
#include "help.h"

static const struct {
  const char *text;
  size_t used; /* bytes that belong to the number */
  enum num_kind kind;
  int64_t mant;
  int exp;
} scans[] = {
  {"0", 1, NUM_INT, 0, 0},
  {"-1,", 2, NUM_INT, -1, 0},
  {"12ab", 2, NUM_INT, 12, 0},
  {"007", 1, NUM_INT, 0, 0},
  {"9223372036854775807", 19, NUM_INT, INT64_MAX, 0},
  {"-9223372036854775807", 20, NUM_INT, -INT64_MAX, 0},
  {"-9223372036854775808", 20, NUM_INT, INT64_MIN, 0},
  {"9223372036854775808", 19, NUM_UINT, INT64_MIN, 0},
  {"18446744073709551615", 20, NUM_UINT, -1, 0},
  {"18446744073709551616", 20, NUM_BIG, 0, 0},
  {"-9223372036854775809", 20, NUM_BIG, 0, 0},
  {"1.50", 4, NUM_DEC, 150, -2},
  {"-0.001", 6, NUM_DEC, -1, -3},
  {"1e3", 3, NUM_DEC, 1, 3},
  {"1E+3", 4, NUM_DEC, 1, 3},
  {"12.5e-3x", 7, NUM_DEC, 125, -4},
  {"1e63", 4, NUM_DEC, 1, 63},
  {"1e-64", 5, NUM_DEC, 1, -64},
  {"1e64", 4, NUM_BIG, 0, 0},
  {"1e-65", 5, NUM_BIG, 0, 0},
  {"1e999999999999", 14, NUM_BIG, 0, 0},
  {"-0", 2, NUM_BIG, 0, 0},
  {"-0.0", 4, NUM_BIG, 0, 0},
  {"0.0", 3, NUM_DEC, 0, -1},
  {"1.", 1, NUM_INT, 1, 0},
  {"1.e5", 1, NUM_INT, 1, 0},
  {"1e", 1, NUM_INT, 1, 0},
  {"1e+", 1, NUM_INT, 1, 0},
  {"", 0, NUM_NONE, 0, 0},
  {"-", 0, NUM_NONE, 0, 0},
  {"+1", 0, NUM_NONE, 0, 0},
  {".5", 0, NUM_NONE, 0, 0},
  {"NaN", 0, NUM_NONE, 0, 0},
};

static void scan(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(scans); i++) {
    const uint8_t *end, *p = (const uint8_t *)scans[i].text;
    struct num n = num_scan(p, &end);
    if (n.kind != scans[i].kind || end != p + scans[i].used)
      fail_msg("%s: kind %d, %td bytes", scans[i].text, (int)n.kind, end - p);
    if (n.kind == NUM_NONE || n.kind == NUM_BIG) continue;
    if (n.mant != scans[i].mant || n.exp != scans[i].exp) fail_msg("%s: %lld e %d", scans[i].text, (long long)n.mant, n.exp);
  }
}

static const struct {
  const char *text;
  int shift;
  const char *us; /* the result as decimal microseconds of ps; NULL = refused */
} scaled[] = {
  {"1", 6, "1"},
  {"1.5", 6, "1.5"},
  {"-1.5", 6, "-1.5"},
  {"0.0000004", 6, "0"},
  {"0.0000005", 6, "0.000001"},
  {"-0.0000005", 6, "-0.000001"},
  {"0.00000149999999999999999999999999999999999999", 6, "0.000001"},
  {"9.9999999999999995e-07", 6, "0.000001"},
  {"1700000000000000.001", 6, "1700000000000000.001"},
  {"1234567890123456789", 6, "1234567890123456789"},
  {"1e3", 6, "1000"},
  {"1E-3", 6, "0.001"},
  {"0.000000000000000000000000000000000000000000000000001e51", 6, "1"},
  {"+5", 6, "5"},
  {"5.", 6, "5"},
  {".5", 6, "0.5"},
  {"1e22", 6, "10000000000000000000000"},
  {"1e-400", 6, "0"},
  {"0e400", 6, "0"},
  {"1e25", 6, NULL},
  {"1e400", 6, NULL},
  {"1e99999999999999999999", 6, NULL},
  {"", 6, NULL},
  {".", 6, NULL},
  {"-", 6, NULL},
  {"1.2.3", 6, NULL},
  {"1 ", 6, NULL},
  {"0x10", 6, NULL},
  {"1e5.5", 6, NULL},
  {"12345678901234567890123456789012345678901234567890", 6, NULL},
};

static void scale(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(scaled); i++) {
    const char *p = scaled[i].text;
    char text[64] = "refused";
    i128 v;
    if (num_scaled((const uint8_t *)p, (const uint8_t *)p + strlen(p), scaled[i].shift, &v)) text[num_put_us(text, v)] = 0;
    if (strcmp(text, scaled[i].us ? scaled[i].us : "refused") != 0) fail_msg("%s: %s", p, text);
  }
}

/* Both scaling functions agree, and round to nearest, half away from zero. */
static void scale_agrees(void **state) {
  uint64_t r = 1;
  (void)state;
  for (int i = 0; i < 200000; i++) {
    char text[64];
    int exp = (int)(r >> 59) - 20;
    i128 a = 0, b = 0;
    r = r * 6364136223846793005u + 1442695040888963407u;
    int64_t mant = (int64_t)(r >> (r >> 58 & 63));
    if (i % 2) mant = -mant;
    int n = snprintf(text, sizeof text, "%llde%d", (long long)mant, exp);
    bool one = num_scale(mant, exp, &a), two = num_scaled((const uint8_t *)text, (const uint8_t *)text + n, 0, &b);
    if (one != two || (one && a != b)) fail_msg("%s", text);
    if (!one || exp >= 0 || exp < -18) continue;
    i128 div = 1, error;
    for (int k = exp; k < 0; k++) div *= 10;
    error = a * div - mant;
    if (error < 0) error = -error;
    if (error * 2 > div) fail_msg("%s is not the nearest", text);
    if (error * 2 == div) assert_true((mant > 0) == (a * div > mant) || mant == 0);
  }
}

static void integers(void **state) {
  static const int64_t values[] = {0, 1, -1, 9, 10, 99, 100, 12345, INT64_MAX, INT64_MIN, -INT64_MAX, 1000000000000000000};
  char got[64], want[64];
  (void)state;
  for (size_t i = 0; i < LENGTH(values); i++) {
    got[num_put_i64(got, values[i])] = 0;
    snprintf(want, sizeof want, "%lld", (long long)values[i]);
    assert_string_equal(got, want);
  }
  for (uint64_t v = UINT64_MAX; v; v = v / 7 * 3) {
    got[num_put_u64(got, v)] = 0;
    snprintf(want, sizeof want, "%llu", (unsigned long long)v);
    assert_string_equal(got, want);
  }
}

/* Numbers of every length, because they are written in words of eight digits. */
static void every_length(void **state) {
  (void)state;
  uint64_t tens = 1;
  for (int length = 1; length <= 20; length++, tens *= length < 20 ? 10 : 1) {
    const uint64_t values[] = {tens - 1, tens, tens + 1, tens * 8 + tens / 7, tens + tens / 3};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      char got[24] = {0}, want[24] = {0};
      snprintf(want, sizeof want, "%llu", (unsigned long long)values[i]);
      assert_int_equal(num_put_u64(got, values[i]), strlen(want));
      assert_memory_equal(got, want, sizeof got); /* nothing but NUL after it */
    }
  }
}

static void fractions(void **state) {
  (void)state;
  for (uint32_t v = 0; v < 1000000; v++) {
    char got[16] = {0}, want[16] = {0};
    if (v) snprintf(want, sizeof want, ".%06u", (unsigned)v);
    for (size_t n = strlen(want); n && want[n - 1] == '0'; n--) want[n - 1] = 0;
    assert_int_equal(num_put_fraction(got, v), strlen(want));
    if (memcmp(got, want, sizeof got) != 0) fail_msg("%s, not %s", got, want);
  }
}

static void decimals(void **state) {
  char text[128];
  (void)state;
  for (int exp = -64; exp <= 63; exp++) {
    for (int64_t mant = 1; mant > 0 && mant < INT64_MAX / 9; mant *= 9) {
      for (int sign = -1; sign <= 1; sign += 2) {
        const uint8_t *end;
        size_t n = num_put_decimal(text, mant * sign, exp);
        assert_true(n <= 96);
        text[n] = 0;
        struct num back = num_scan((const uint8_t *)text, &end);
        if (back.kind != NUM_DEC || back.mant != mant * sign || back.exp != exp || *end) fail_msg("%s", text);
      }
    }
  }
  text[num_put_decimal(text, 150, -2)] = 0;
  assert_string_equal(text, "1.50");
  text[num_put_decimal(text, INT64_MIN, -1)] = 0;
  assert_string_equal(text, "-922337203685477580.8");
}

static void microseconds(void **state) {
  static const struct { int64_t ps; const char *us; } values[] = {
    {0, "0"}, {1, "0.000001"}, {-1, "-0.000001"}, {1500000, "1.5"}, {100000, "0.1"}, {1000000, "1"}, {-1000001, "-1.000001"},
    {INT64_MAX, "9223372036854.775807"}, {INT64_MIN, "-9223372036854.775808"}};
  char text[64];
  (void)state;
  for (size_t i = 0; i < LENGTH(values); i++) {
    text[num_put_us(text, values[i].ps)] = 0;
    assert_string_equal(text, values[i].us);
  }
  text[num_put_us(text, (i128)1700000000000000000 * 1000000 + 1)] = 0;
  assert_string_equal(text, "1700000000000000000.000001");
  text[num_put_us(text, (i128)1000000000000000000 * 1000000 * 100)] = 0;
  assert_string_equal(text, "100000000000000000000");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(scan),     cmocka_unit_test(scale),        cmocka_unit_test(scale_agrees), cmocka_unit_test(integers),
    cmocka_unit_test(decimals), cmocka_unit_test(microseconds), cmocka_unit_test(every_length), cmocka_unit_test(fractions),
  };
  return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}
