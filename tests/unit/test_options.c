/* test_options.c - options from callers compiled with an older or newer header. */
#include "help.h"

#include "base/options.h"

/* The past, present and future versions of an options struct. */
struct first {
  size_t size;
  const char *a;
};
struct ours {
  size_t size;
  const char *a;
  uint64_t b;
};
struct later {
  size_t size;
  const char *a;
  uint64_t b, c;
};

static bool take(struct ours *own, const void *given, struct tk_err *err) {
  err_clear(err);
  return options_take(own, sizeof *own, sizeof(struct first), given, err);
}

static void takes(void **state) {
  (void)state;
  struct tk_err err;
  struct ours own = {.b = 9};
  assert_true(take(&own, NULL, &err) && own.b == 0 && !own.a);
  assert_true(take(&own, &(struct ours){sizeof own, "x", 7}, &err) && own.b == 7);
  assert_true(take(&own, &(struct first){sizeof(struct first), "x"}, &err) && own.b == 0 && own.a);
  /* size 0 means the first version, whatever memory follows it */
  assert_true(take(&own, &(struct ours){0, "x", 7}, &err) && own.b == 0 && own.a);
  assert_true(take(&own, &(struct later){sizeof(struct later), "x", 7, 0}, &err) && own.b == 7);
}

static void refuses(void **state) {
  (void)state;
  struct tk_err err;
  struct ours own;
  assert_false(take(&own, &(struct later){sizeof(struct later), "x", 7, 1}, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_string_equal(err.msg, "unknown option: the caller was built for a newer version of the library than " TK_VERSION);
  assert_false(take(&own, &(struct first){4, "x"}, &err));
  char least[64];
  snprintf(least, sizeof least, "options of 4 bytes; expected at least %zu", sizeof(struct first));
  assert_string_equal(err.msg, least);
}

/* Every function with options refuses invalid options. */
static void is_asked(void **state) {
  (void)state;
  struct tk_err err;
  struct tk_trace *t = feed_text("[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\"}]");
  const char *const names[] = {"nosuch"};
  struct tk_top_report *top = NULL;
  struct tk_tree_report *tree = NULL;
  struct tk_merge_report *merged = NULL;
  struct tk_list_report *list = NULL;
  struct tk_extract_report *extracted = NULL;
  struct tk_split_report *split = NULL;
  struct tk_shrink_report shrunk;
  struct tk_diff_report *diff = NULL;
  struct tk_compare_report *compared = NULL;
  struct tk_report *report = NULL;
  struct ArrowArrayStream stream;
  struct tk_sources *s = tk_sources_open(names, 1, NULL, &err);
#define SMALL(name) (&(struct tk_##name##_options){.size = 3})
#define REFUSES(call)                                                             \
  do {                                                                            \
    assert_false(call);                                                           \
    assert_int_equal(err.code, TK_EUSAGE);                                        \
    assert_memory_equal(err.msg, "options of 3 bytes", strlen("options of 3 bytes")); \
    err_clear(&err);                                                              \
  } while (0)
  REFUSES(tk_top(t, SMALL(top), &top, &err));
  tk_top_report_free(top);
  REFUSES(tk_tree(t, SMALL(tree), &tree, &err));
  tk_tree_report_free(tree);
  REFUSES(tk_filter(t, SMALL(filter), NULL, &err));
  REFUSES(tk_filter_check(SMALL(filter), &err));
  REFUSES(tk_rebase(t, SMALL(rebase), &err));
  REFUSES(tk_rebase_check(SMALL(rebase), &err));
  REFUSES(tk_redact(t, SMALL(redact), NULL, &err));
  REFUSES(tk_split(t, "{}.json", SMALL(split), &split, &err));
  tk_split_report_free(split);
  REFUSES(tk_shrink(t, "x.json", SMALL(shrink), &shrunk, &err));
  REFUSES(tk_sql_open(t, SMALL(sql), &err) != NULL);
  REFUSES(tk_arrow(t, TK_TABLE_EVENTS, SMALL(arrow), &stream, &err));
  REFUSES(tk_report_trace(t, SMALL(report), &report, &err));
  tk_report_free(report);
  REFUSES(tk_report_sources(s, SMALL(report), &report, &err));
  tk_report_free(report);
  REFUSES(tk_diff(s, s, SMALL(diff), &diff, &err));
  tk_diff_report_free(diff);
  REFUSES(tk_compare(&s, names, 1, SMALL(diff), &compared, &err));
  tk_compare_report_free(compared);
  REFUSES(tk_merge(names, 1, "x.json", SMALL(merge), &merged, &err));
  tk_merge_report_free(merged);
  REFUSES(tk_sources_merge(s, "x", SMALL(merge), &merged, &err) != NULL);
  tk_merge_report_free(merged);
  REFUSES(tk_plan(names, 1, "x.json", SMALL(merge), &merged, &err));
  tk_merge_report_free(merged);
  REFUSES(tk_scan(names, 1, "x.scan", SMALL(scan), NULL, &err));
  REFUSES(tk_list(names, 1, SMALL(list), &list, &err));
  tk_list_report_free(list);
  REFUSES(tk_extract(names, 1, SMALL(extract), &extracted, &err));
  tk_extract_report_free(extracted);
  REFUSES(tk_new(SMALL(new), &err) != NULL);
  tk_sources_close(s);
  tk_free(t);
}

/* Structs that are embedded in others end with reserved fields. */
static void reserves(void **state) {
  (void)state;
  struct tk_err err;
  struct tk_trace *t = feed_text("[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\"}]");
  struct tk_bytes bytes;
  struct tk_top_report *top = NULL;
  assert_null(tk_load_memory("[]", 2, "x", &(struct tk_load_options){.settings = (const char *const[]){"x", NULL}}, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_null(tk_sources_open(NULL, 0, &(struct tk_source_options){.reserved = {0, 1}}, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_false(tk_save_memory(t, "x.json", &bytes, &(struct tk_save_options){.reserved = {1}}, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_false(tk_top(t, &(struct tk_top_options){.select.reserved = {1}}, &top, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  tk_top_report_free(top);
  assert_int_equal(tk_version(), TK_VERSION_NUMBER);
  char text[32];
  snprintf(text, sizeof text, "%u.%u.%u", TK_VERSION_NUMBER / 10000, TK_VERSION_NUMBER / 100 % 100, TK_VERSION_NUMBER % 100);
  assert_string_equal(text, TK_VERSION);
  tk_free(t);
}

/* Times and steps given as numbers select the same events as those given as text. */
static void ranges(void **state) {
  (void)state;
  static const char text[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"ProfilerStep#1\"},"
                             "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":5,\"dur\":1,\"name\":\"ProfilerStep#2\"},"
                             "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":9,\"dur\":1,\"name\":\"ProfilerStep#3\"}]";
  struct tk_err err;
  struct tk_trace *t = feed_text(text);
  const tk_time second = t->events[2].ts;
  struct tk_top_report *top = NULL;
  const struct tk_range time = {second, second + 1}, steps = {2, 3}, none = {7, 8}, empty = {5, 5};
  assert_true(tk_top(t, &(struct tk_top_options){.select.range = &time}, &top, &err));
  assert_int_equal(top->events, 1);
  tk_top_report_free(top);
  assert_false(tk_top(t, &(struct tk_top_options){.select.step_range = &none}, &top, &err));
  assert_string_equal(err.msg, "nothing matched: steps '7..8': the trace has steps 1 to 3");
  tk_top_report_free(top);
  assert_false(tk_filter(t, &(struct tk_filter_options){.range = &empty}, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_true(tk_filter(t, &(struct tk_filter_options){.step_range = &steps}, NULL, &err));
  assert_int_equal(t->n_events, 2);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(takes), cmocka_unit_test(refuses), cmocka_unit_test(is_asked),
                                     cmocka_unit_test(reserves), cmocka_unit_test(ranges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
