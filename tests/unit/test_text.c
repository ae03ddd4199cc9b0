/* test_text.c - parsing of sizes, durations and times as people write them. */
#include "help.h"

#include "base/base64.h"

static void sizes(void **state) {
  static const struct {
    const char *text;
    bool ok;
    uint64_t bytes;
  } t[] = {{"0", true, 0},
           {"1", true, 1},
           {"512B", true, 512},
           {"64K", true, 65536},
           {"2MiB", true, 2097152},
           {"2MB", true, 2000000},
           {"1G", true, 1ull << 30},
           {"1.5K", true, 1536},
           {"1 KiB", true, 1024},
           {"1kB", true, 1000},
           {"2TiB", true, 2ull << 40},
           {"1000000000000000000", true, 1000000000000000000},
           {"18446744073709551616", false, 0},
           {"99999999999T", false, 0},
           {"", false, 0},
           {"K", false, 0},
           {"-1", false, 0},
           {"1X", false, 0},
           {"1  K", false, 0},
           {"1Kfoo", false, 0},
           {"0x10", false, 0},
           {"1e3", false, 0},
           {"1.2.3", false, 0},
           {"+", false, 0},
           {" 1", false, 0}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    uint64_t v = 7;
    if (tk_parse_size(t[i].text, &v) != t[i].ok || (t[i].ok && v != t[i].bytes))
      fail_msg("'%s': %llu", t[i].text, (unsigned long long)v);
  }
}

static void durations(void **state) {
  static const struct {
    const char *text;
    bool ok;
    tk_time ps;
  } t[] = {{"0", true, 0},
           {"1ps", true, 1},
           {"1.5ms", true, 1500000000},
           {"20us", true, 20000000},
           {"20 \xc2\xb5s", true, 20000000},
           {"3s", true, 3000000000000},
           {"2h", true, 7200000000000000},
           {"1m", true, 60000000000000},
           {"1min", true, 60000000000000},
           {"-5ns", true, -5000},
           {"+5ns", true, 5000},
           {"0.4ps", true, 0},
           {"0.5ps", true, 1},
           {"106d", true, 9158400000000000000},
           {"107d", false, 0},
           {"99999999999999999999d", false, 0},
           {"5", false, 0},
           {"s", false, 0},
           {"5 parsecs", false, 0},
           {"", false, 0},
           {"1e3s", false, 0},
           {"nan", false, 0}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    tk_time v = 7;
    if (tk_parse_duration(t[i].text, &v) != t[i].ok || (t[i].ok && v != t[i].ps))
      fail_msg("'%s': %lld", t[i].text, (long long)v);
  }
}

static void parse_range(void **state) {
  static const struct {
    const char *text;
    bool ok;
    int64_t first, last;
  } t[] = {{"3", true, 3, 3},
           {"3..5", true, 3, 5},
           {"5..5", true, 5, 5},
           {"3..", true, 3, INT64_MAX},
           {"..5", true, INT64_MIN, 5},
           {"-2..-1", true, -2, -1},
           {"0..9223372036854775807", true, 0, INT64_MAX},
           {"5..3", false, 0, 0},
           {"..", false, 0, 0},
           {"", false, 0, 0},
           {"3.", false, 0, 0},
           {"3...5", false, 0, 0},
           {"3..x", false, 0, 0},
           {"3,5", false, 0, 0},
           {"1.5", false, 0, 0},
           {"9223372036854775808", false, 0, 0}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    struct tk_range r;
    if (tk_parse_range(t[i].text, &r) != t[i].ok || (t[i].ok && (r.first != t[i].first || r.last != t[i].last)))
      fail_msg("'%s': %lld..%lld", t[i].text, (long long)r.first, (long long)r.last);
  }
}

static void parse_offset(void **state) {
  static const struct {
    const char *text;
    bool ok;
    size_t who;
    int64_t ns;
  } t[] = {{"3=+1.5ms", true, 1, 1500000},
           {"host42=-20us", true, 6, -20000},
           {"a=b=1s", true, 3, 1000000000},
           {"3=0", true, 1, 0},
           {"3=200d", false, 0, 0},
           {"=1ms", false, 0, 0},
           {"3", false, 0, 0},
           {"3=", false, 0, 0},
           {"3=--1ms", false, 0, 0},
           {"3=1", false, 0, 0},
           {"", false, 0, 0}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    size_t who = 0;
    int64_t ns = 0;
    if (tk_parse_offset(t[i].text, &who, &ns) != t[i].ok || (t[i].ok && (who != t[i].who || ns != t[i].ns)))
      fail_msg("'%s': %zu bytes, %lld ns", t[i].text, who, (long long)ns);
  }
}

static void print_durations(void **state) {
  static const struct {
    tk_time ps;
    const char *text;
  } t[] = {{0, "0 ps"},
           {999, "999 ps"},
           {1000, "1.000 ns"},
           {-1500000, "-1.500 us"},
           {12300000000, "12.300 ms"},
           {1000000000000, "1.000 s"},
           {7200000000000000, "7200.000 s"}};
  char text[32];
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    tk_print_duration(t[i].ps, text);
    assert_string_equal(text, t[i].text);
  }
  tk_print_duration(INT64_MIN, text);
  tk_print_duration(INT64_MAX, text);
}

static void print_sizes(void **state) {
  static const struct {
    uint64_t bytes;
    const char *text;
  } t[] = {{0, "0 B"}, {999, "999 B"}, {1000, "1.0 KB"}, {1900000000, "1.9 GB"}, {5000000000000, "5.0 TB"}};
  char text[32];
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    tk_print_size(t[i].bytes, text);
    assert_string_equal(text, t[i].text);
  }
  tk_print_size(UINT64_MAX, text);
}

static void print_absolute(void **state) {
  static const struct { int64_t ns; tk_time ps; const char *text; } t[] = {
    {0, 0, "1970-01-01T00:00:00.000000000Z"}, {0, -1, "1969-12-31T23:59:59.999999999Z"},
    {951782400000000000, 0, "2000-02-29T00:00:00.000000000Z"}, {951868800000000000, 0, "2000-03-01T00:00:00.000000000Z"},
    {1795170109123456789, 0, "2026-11-20T10:21:49.123456789Z"}, {1795170109123456789, 1000, "2026-11-20T10:21:49.123456790Z"}};
  char text[40];
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    tk_print_absolute(t[i].ns, t[i].ps, text);
    assert_string_equal(text, t[i].text);
  }
  tk_print_absolute(INT64_MAX, INT64_MAX, text);
  tk_print_absolute(INT64_MIN, INT64_MIN, text);
}

static void base64(void **state) {
  static const char *const WRONG[] = {"Cg=", "C===", "====", "Cg==Cg==", "Ch==", "Cgk=x", "C-k=", "CgkK\n"};
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  uint8_t bytes[256];
  (void)state;
  for (size_t n = 0; n < sizeof bytes; n++) {
    bytes[n] = (uint8_t)(n * 37);
    b.len = 0;
    assert_true(base64_append(&b, bytes, n));
    assert_int_equal(base64_decode(b.data, b.len), n);
    assert_memory_equal(b.data, bytes, n);
  }
  for (size_t i = 0; i < LENGTH(WRONG); i++) {
    b.len = 0;
    buf_text(&b, WRONG[i]);
    if (base64_decode(b.data, b.len) != SIZE_MAX) fail_msg("'%s' is decoded", WRONG[i]);
    assert_memory_equal(b.data, WRONG[i], b.len);
  }
  buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes), cmocka_unit_test(base64), cmocka_unit_test(durations),
    cmocka_unit_test(parse_range), cmocka_unit_test(parse_offset), cmocka_unit_test(print_durations), cmocka_unit_test(print_sizes),
    cmocka_unit_test(print_absolute),
  };
  return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
