/* test_regexp.c - regular expressions: matches, invalid expressions, and matching that exceeds its limits. */
#include "help.h"
#include "base/regexp.h"

static void matches(void **state) {
  static const struct {
    const char *regexp, *text;
    bool is;
  } t[] = {{"nccl", "ncclDevKernel", true},
           {"^s", "sgemm", true},
           {"^s", "as", false},
           {"a$", "a\n", false},
           {"a.b", "a\nb", true},
           {"^.$", "\xc3\xa9", true},
           {"[[:digit:]]+", "x42", true},
           {"\\bmm\\b", "aten::mm", true},
           {"(?i)GEMM", "sgemm", true},
           {"", "", true}};
  struct mem mem = {0};
  struct tk_err err = {0};
  char why[160];
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    struct regexp *r = regexp_new(t[i].regexp, &mem, why, sizeof why);
    assert_non_null(r);
    if (regexp_matches(r, t[i].text) != t[i].is) fail_msg("'%s' and '%s'", t[i].regexp, t[i].text);
    assert_true(regexp_check(r, &err));
    regexp_free(r);
  }
  assert_int_equal(mem.used, 0);
}

static void mistakes(void **state) {
  static const char *const t[] = {"(", "a{2", "[a", "*", "\\C", "a{1,255}{1,255}{1,9}", "\xff"};
  struct mem mem = {0};
  char why[160] = "";
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    struct regexp *r = regexp_new(t[i], &mem, why, sizeof why);
    if (strcmp(t[i], "a{2") == 0) assert_non_null(r); /* matches literally */
    else assert_null(r);
    assert_true(r || strlen(why) > 5);
    regexp_free(r);
  }
  assert_int_equal(mem.used, 0);
}

static void gives_up(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  char why[160], text[400];
  (void)state;
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = 0;
  struct regexp *r = regexp_new("(a+)+[bx]$", &mem, why, sizeof why);
  assert_false(regexp_matches(r, text));
  assert_false(regexp_matches(r, "c"));
  assert_false(regexp_check(r, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  assert_non_null(strstr(err.msg, "'(a+)+[bx]$'"));
  assert_non_null(strstr(err.msg, "'aaaaaaaa"));
  regexp_free(r);
  assert_int_equal(mem.used, 0);
}

static void within_memory(void **state) {
  struct mem mem = {.limit = 20000};
  char why[160], text[5000];
  (void)state;
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = 0;
  struct regexp *r = regexp_new("(a|b)*(c|d)", &mem, why, sizeof why);
  if (r) regexp_matches(r, text);
  regexp_free(r);
  assert_true(mem.peak <= mem.limit);
  assert_true(mem.failed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matches), cmocka_unit_test(mistakes), cmocka_unit_test(gives_up),
                                     cmocka_unit_test(within_memory)};
  return cmocka_run_group_tests_name("regexp", tests, NULL, NULL);
}
