/* test_err.c - the first error wins, every layer adds its context, and no message can send control codes to a terminal. */
#include "help.h"

#include <errno.h>

#include "format/json.h"

static void first_wins(void **state) {
  struct tk_err err = {0};
  (void)state;
  assert_false(err_at(&err, TK_ECORRUPT, 17, "bad %s", "token"));
  assert_false(err_set(&err, TK_EREAD, "later"));
  assert_int_equal(err.code, TK_ECORRUPT);
  assert_int_equal(err.offset, 17);
  assert_string_equal(err.msg, "bad token");
  err_prefix(&err, "event %d", 3);
  err_prefix(&err, "%s", "a.json");
  assert_string_equal(err.msg, "a.json: event 3: bad token");
  err_clear(&err);
  assert_int_equal(err.code, TK_OK);
  assert_int_equal(err.offset, UINT64_MAX);
  assert_string_equal(err.msg, "");
  assert_false(err_prefix(&err, "nothing to prefix"));
  assert_string_equal(err.msg, "");
}

static void system_errors(void **state) {
  struct tk_err err = {0};
  (void)state;
  err_sys(&err, TK_EOPEN, ENOENT, "cannot open");
  assert_int_equal(err.sys, ENOENT);
  assert_int_equal(err.offset, UINT64_MAX);
  assert_non_null(strstr(err.msg, "cannot open: No such file"));
}

static void without_err(void **state) {
  (void)state;
  assert_false(err_set(NULL, TK_EREAD, "x"));
  assert_false(err_at(NULL, TK_EREAD, 1, "x"));
  assert_false(err_sys(NULL, TK_EREAD, EIO, "x"));
  assert_false(err_prefix(NULL, "x"));
  err_clear(NULL);
}

static void long_messages(void **state) {
  struct tk_err err = {0};
  char text[3000];
  (void)state;
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  err_sys(&err, TK_EREAD, EIO, "%s", text);
  for (int i = 0; i < 5; i++) err_prefix(&err, "%s", text);
  assert_true(strlen(err.msg) < sizeof err.msg);
}

/* A message is one line without control characters, and valid UTF-8 even if truncated. */
static void clean_messages(void **state) {
  struct tk_err err;
  char text[2000];
  (void)state;
  err_clear(&err);
  err_set(&err, TK_EREAD, "a\nb\x1b[31mc\x7f\r\t");
  err_prefix(&err, "x\x01y");
  for (const char *p = err.msg; *p; p++) assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
  for (size_t shift = 0; shift < 3; shift++) {
    memset(text, 'x', sizeof text);
    for (size_t i = shift; i + 4 < sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
    err_clear(&err);
    err_set(&err, TK_EREAD, "%s", text);
    assert_true(utf8_valid((const uint8_t *)err.msg, strlen(err.msg)));
    err_prefix(&err, "%s", text);
    assert_true(utf8_valid((const uint8_t *)err.msg, strlen(err.msg)));
  }
  err_clear(&err);
  err_set(&err, TK_EREAD, "bad \xff\xc0 bytes");
  assert_true(utf8_valid((const uint8_t *)err.msg, strlen(err.msg)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(first_wins),    cmocka_unit_test(system_errors),  cmocka_unit_test(without_err),
    cmocka_unit_test(long_messages), cmocka_unit_test(clean_messages),
  };
  return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
