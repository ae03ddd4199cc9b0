/* test_label.c - templates of process names: expansion, text that is dropped with an unknown field, errors. */
#include "help.h"

#include "base/utf8.h"
#include "op/label.h"

static const struct label_values ALL = {{"3", "host42", "GPU 0", "17", "rank3.json", "run7", "100"}};
static const struct label_values NO_HOST = {{"3", "", "GPU 0", "17", NULL, NULL, NULL}};
static const struct label_values NO_PROCESS = {{"3", "host42", NULL, NULL, NULL, NULL, NULL}}, NOTHING = {{NULL}};

static void expansions(void **state) {
  static const struct {
    const char *label;
    const struct label_values *values;
    const char *want;
  } cases[] = {
      {LABEL_DEFAULT, &ALL, "rank 3 - host42 - GPU 0"},
      {LABEL_DEFAULT, &NO_HOST, "rank 3 - GPU 0"},
      {LABEL_DEFAULT, &NO_PROCESS, "rank 3 - host42"},
      {LABEL_DEFAULT, &NOTHING, ""},
      {"{input}:{pid}", &ALL, "rank3.json:17"},
      {"{run}/{step} {rank}", &ALL, "run7/100 3"},
      {"{run}/{step} {rank}", &NO_HOST, "3"},
      {"{process} ({host})", &ALL, "GPU 0 (host42)"},
      {"{process} ({host})", &NO_HOST, "GPU 0"},
      {"{rank} [{host}] {process}", &NO_HOST, "3 GPU 0"},
      {"on {host}: {process}", &NO_HOST, "GPU 0"},
      {"[{host}] {process}", &NO_HOST, "GPU 0"},
      {"{process} <{host}> r{rank}", &NO_PROCESS, "host42 r3"},
      {"{host}/{rank}", &NO_HOST, "3"},
      {"{host}", &NO_HOST, ""},
      {"{{{rank}}}", &ALL, "{3}"},
      {"{rank}{rank}", &ALL, "33"},
      {"r\xc3\xa9{rank}!", &ALL, "r\xc3\xa9" "3!"},
  };
  char text[64];
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    struct tk_err err = {0};
    if (!label_check(cases[i].label, &err)) fail_msg("%s: %s", cases[i].label, err.msg);
    size_t n = label_expand(cases[i].label, cases[i].values, text, sizeof text);
    if (strcmp(text, cases[i].want) != 0) fail_msg("%s: '%s', not '%s'", cases[i].label, text, cases[i].want);
    assert_int_equal(n, strlen(text));
  }
}

static void refused(void **state) {
  static const char *const bad[] = {"", "trainer", "{rank", "{ rank}", "{Rank}", "}{rank}", "{rank}{", "{}", "{rank}\xff", "{{rank}}"};
  (void)state;
  for (size_t i = 0; i < LENGTH(bad); i++) {
    struct tk_err err = {0};
    if (label_check(bad[i], &err)) fail_msg("'%s' is taken", bad[i]);
    assert_int_equal(err.code, TK_EUSAGE);
  }
}

/* A label that does not fit is cut between characters, for every buffer size, and nothing is appended after the cut. */
static void cut(void **state) {
  const struct label_values v = {{"\xe2\x82\xac\xe2\x82\xac", "h", "p", NULL, NULL, NULL, NULL}};
  char text[32];
  (void)state;
  for (size_t size = 1; size < 16; size++) {
    memset(text, 'X', sizeof text);
    size_t n = label_expand("a{rank}-{host}{process}", &v, text, size);
    assert_true(n < size && text[n] == 0 && text[size] == 'X');
    assert_true(utf8_valid((const uint8_t *)text, n));
    assert_memory_equal(text, "a\xe2\x82\xac\xe2\x82\xac-hp", n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expansions), cmocka_unit_test(refused), cmocka_unit_test(cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
