/* test_copy.c - copies of traces: equal to the original, independent of it, and refused without enough memory. */
#include "help.h"

#include "tracekit.h"

static struct tk_bytes saved(const struct tk_trace *t, const char *format) {
  struct tk_bytes out = {0};
  struct tk_err err = TK_ERR_INIT;
  const struct tk_save_options opt = {.format = format};
  if (!tk_save_memory(t, "copy", &out, &opt, NULL, &err)) fail_msg("%s: %s", format, err.msg);
  return out;
}

static void check_saved(const char *path, const struct tk_trace *t, const struct tk_trace *copy) {
  static const char *const formats[] = {"json", "perfetto", "xplane"};
  for (unsigned i = 0; i < LENGTH(formats); i++) {
    const struct tk_bytes a = saved(t, formats[i]), b = saved(copy, formats[i]);
    if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0) fail_msg("%s: the copy is saved differently as %s", path, formats[i]);
    free(a.p);
    free(b.p);
  }
}

static void check_dump(const char *path, const struct tk_trace *t, const char *want) {
  char *dump = dump_of(t);
  expect(strcmp(dump, want) == 0, path, dump, want);
  free(dump);
}

static void change(struct tk_trace *t) {
  struct tk_err err = TK_ERR_INIT;
  const char *const where[] = {"dur > 100us", NULL};
  if (!tk_rebase(t, &(struct tk_rebase_options){.shift = 1000}, &err)) fail_msg("%s", err.msg);
  if (!tk_filter(t, &(struct tk_filter_options){.where = where}, NULL, &err)) fail_msg("%s", err.msg);
  if (!tk_redact(t, &(struct tk_redact_options){.names = TK_REDACT_NAMES_HASH}, NULL, &err)) fail_msg("%s", err.msg);
}

static void copy_file(const char *path, struct bytes b) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_trace *t = tk_load(path, NULL, &err);
  (void)b;
  if (!t) return;
  char *before = dump_of(t);
  struct tk_trace *copy = tk_copy(t, &err), *changed = tk_copy(t, &err);
  assert_non_null(copy);
  assert_non_null(changed);
  check_dump(path, copy, before);
  check_saved(path, t, copy);
  change(changed);
  check_dump(path, t, before);
  tk_free(t);
  change(copy);
  char *both = dump_of(changed);
  check_dump(path, copy, both);
  free(both);
  free(before);
  tk_free(changed);
  tk_free(copy);
}

static void fixtures(void **state) {
  static const char *const folders[] = {"json", "perfetto", "xplane", "nasty", "nsys", "rocm", "torch_memory", "hostile",
                                        "folded", "speedscope", "cpuprofile", "perf_script", "pprof", "otlp"};
  (void)state;
  for (unsigned i = 0; i < LENGTH(folders); i++) each_fixture(folders[i], 200000, copy_file);
}

static void describes_the_source(void **state) {
  static const char text[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\"}]";
  struct tk_err err = TK_ERR_INIT;
  struct tk_trace *t = tk_load_memory(text, sizeof text - 1, "name.json", &(struct tk_load_options){.step_name = "a"}, &err);
  (void)state;
  assert_non_null(t);
  struct tk_trace *copy = tk_copy(t, &err);
  assert_non_null(copy);
  tk_free(t);
  assert_string_equal(copy->source, "name.json");
  assert_string_equal(copy->format, "json");
  assert_string_equal(copy->store->step_name, "a");
  assert_null(tk_clock_source(copy));
  tk_free(copy);
}

static void limits(void **state) {
  char text[4096];
  size_t n = 0;
  struct tk_err err = TK_ERR_INIT;
  (void)state;
  for (int i = 0; i < 40; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%c{\"ph\":\"i\",\"ts\":%d,\"name\":\"n%d\",\"args\":{\"k%d\":1}}", i ? ',' : '[',
                          i, i, i);
  text[n++] = ']';
  struct tk_trace *t = tk_load_memory(text, n, "x", NULL, &err);
  assert_non_null(t);
  const uint64_t used = t->store->mem.used;
  unsigned refused = 0;
  t->store->mem.whole = 0;
  for (uint64_t limit = 1; limit < 2 * used; limit += used / 64 + 1) {
    t->store->mem.limit = limit;
    err = (struct tk_err)TK_ERR_INIT;
    struct tk_trace *copy = tk_copy(t, &err);
    if (!copy) assert_int_equal(err.code, TK_ELIMIT);
    if (copy) assert_true(copy->store->mem.used <= limit);
    refused += !copy;
    tk_free(copy);
  }
  assert_in_range(refused, 1, 127);
  tk_free(t);
}

static void refuses(void **state) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_trace *t = trace_new(0);
  (void)state;
  assert_null(tk_copy(NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_null(tk_copy(t, &err));
  assert_string_equal(err.msg, "the trace is not sealed");
  assert_null(tk_copy(t, NULL));
  tk_free(t);
}

/* A copy contains the ranks of the processes in a node's report, which are stored separately from the tracks. */
static void keeps_ranks(void **state) {
  static const char text[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\"}]";
  struct tk_err err = TK_ERR_INIT;
  struct tk_trace *t = tk_load_memory(text, sizeof text - 1, "name.json", NULL, &err);
  (void)state;
  assert_non_null(t);
  trace_own(t, 1, 4711);
  trace_number_owner(t, 4711, 5);
  struct tk_trace *copy = tk_copy(t, &err);
  assert_non_null(copy);
  assert_int_equal(trace_owner(copy, 1), 4711);
  assert_int_equal(trace_owner_rank(copy, 4711), 5);
  tk_free(t);
  tk_free(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fixtures), cmocka_unit_test(describes_the_source), cmocka_unit_test(keeps_ranks),
                                     cmocka_unit_test(limits), cmocka_unit_test(refuses)};
  return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
