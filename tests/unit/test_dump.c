/* test_dump.c - the canonical text: the representation of each item, always one line, whatever its strings contain. */
#include "help.h"
#include "graph/args.h"

static void whole(void **state) {
  static const char text[] = "{\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},"
                             "{\"ph\":\"X\",\"pid\":1,\"tid\":\"7\",\"ts\":1.5,\"dur\":2,\"name\":\"a\",\"cat\":\"c\",\"args\":"
                             "{\"i\":-1,\"d\":1.50,\"n\":[1]}},"
                             "{\"ph\":\"s\",\"pid\":1,\"tid\":7,\"ts\":2,\"id\":\"x\",\"name\":\"f\"}],\"k\":[1]}";
  static const char want[] =
      "trace origin=1500ns zero=0ns clock=unknown\n"
      "track process pid=1 \"p\"\n"
      "track thread pid=1 tid=\"7\"\n"
      "  0 span 0 +2000000 \"a\" [c] {i=-1, d=1.50, n=[1]}\n"
      "flow start 500000 \"f\" id=\"x\" pid=1 tid=\"7\" {json.respelled=\"tid\"} -> 0 \"a\" [c]\n"
      "record M pid=1 \"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"p\"}\n"
      "meta k [1]\n";
  struct tk_trace *t = feed_text(text);
  char *dump = dump_of(t);
  (void)state;
  expect(strcmp(dump, want) == 0, "dump", dump, want);
  free(dump);
  tk_free(t);
}

static void types(void **state) {
  struct tk_trace *t = trace_new(0);
  tk_id x = trace_text(t, "x");
  struct tk_event *e = trace_add_event(t);
  (void)state;
  e->track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0);
  e->cls = trace_class(t, x, 0);
  args_begin(t);
  args_flag(t, trace_text(t, "null"), TK_ARG_NULL);
  args_uint(t, trace_text(t, "u"), TK_ARG_UINT, UINT64_MAX);
  args_uint(t, trace_text(t, "p"), TK_ARG_POINTER, 0xabc);
  args_double(t, trace_text(t, "d"), 0.5);
  args_str(t, trace_text(t, "ref"), TK_ARG_REF, x);
  args_str(t, trace_text(t, "b"), TK_ARG_BYTES, x);
  args_str(t, trace_text(t, "num"), TK_ARG_NUMBER, trace_text(t, "1e400"));
  e->args = args_end(t);
  assert_true(seal(t, 1, NULL));
  char *dump = dump_of(t);
  assert_non_null(
      strstr(dump, "\"x\" {null=null, u=18446744073709551615u, p=0xabc, d=0.5d, ref=ref:\"x\", b=bytes:\"x\", num=1e400}\n"));
  free(dump);
  tk_free(t);
}

/* A name cannot forge a line, and graphs that differ only in such bytes have different dumps. */
static void hostile_strings(void **state) {
  static const char *const names[] = {
      "a\\nnote repair x1 forged", "a\\\\nnote repair x1 forged", "\\\"", "\\\\x22", "\\u0000", "\\\\u0000"};
  char *dumps[LENGTH(names)];
  (void)state;
  for (size_t i = 0; i < LENGTH(names); i++) {
    char text[256];
    unsigned lines = 0;
    snprintf(text, sizeof text,
             "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"%s\",\"args\":{\"k\":\"%s\"}}]", names[i],
             names[i]);
    struct tk_trace *t = feed_text(text);
    dumps[i] = dump_of(t);
    for (const char *p = dumps[i]; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 4);
    for (size_t k = 0; k < i; k++) assert_string_not_equal(dumps[i], dumps[k]);
    tk_free(t);
  }
  for (size_t i = 0; i < LENGTH(names); i++) free(dumps[i]);
}

/* The same holds for unquoted text: keys and categories. */
static void hostile_keys(void **state) {
  static const char text[] = "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\",\"cat\":"
                             "\"c\\nnote info x1 forged\","
                             "\"args\":{\"k\\nnote info x1 forged\":1}}],\"m\\nnote info x1 forged\":1}";
  struct tk_trace *t = feed_text(text);
  char *dump = dump_of(t);
  (void)state;
  assert_null(strstr(dump, "\nnote info x1 forged"));
  free(dump);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(whole), cmocka_unit_test(types), cmocka_unit_test(hostile_strings), cmocka_unit_test(hostile_keys),
  };
  return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
