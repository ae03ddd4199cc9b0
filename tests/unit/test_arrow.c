/* test_arrow.c - tables through Arrow's C data interface: contents, nulls and ownership. */
#include "help.h"

#include "tracekit.h"

static const char text[] =
    "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"main\"}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,"
    "\"dur\":10.0006,\"name\":\"a\",\"cat\":\"c\",\"args\":{\"n\":3,\"m\":1,\"s\":\"x\"}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":3,\"name\":\"b\",\"args\":{\"n\":0.5,\"m\":2,\"s\":4}},"
    "{\"ph\":\"B\",\"pid\":1,\"tid\":8,\"ts\":4,\"name\":\"open\"},"
    "{\"ph\":\"i\",\"pid\":\"p\",\"tid\":\"q\",\"ts\":5,\"name\":\"a\",\"args\":{\"m\":true}},"
    "{\"ph\":\"s\",\"pid\":1,\"tid\":7,\"ts\":2,\"id\":9,\"name\":\"f\"},"
    "{\"ph\":\"f\",\"pid\":1,\"tid\":8,\"ts\":4,\"id\":9,\"name\":\"f\"}]";

struct taken {
  struct ArrowSchema schema;
  struct ArrowArray batch;
};

static struct taken take_as(struct tk_trace *t, enum tk_table table, const struct tk_arrow_options *opt) {
  struct ArrowArrayStream s;
  struct ArrowArray end;
  struct taken v;
  struct tk_err err;
  assert_true(tk_arrow(t, table, opt, &s, &err));
  assert_int_equal(s.get_schema(&s, &v.schema), 0);
  assert_int_equal(s.get_next(&s, &v.batch), 0);
  assert_int_equal(s.get_next(&s, &end), 0);
  assert_null(end.release);
  s.release(&s);
  assert_null(s.release);
  assert_int_equal(v.schema.n_children, v.batch.n_children);
  return v;
}

static struct taken take(struct tk_trace *t, enum tk_table table, const char *const *columns, bool ps) {
  return take_as(t, table, &(struct tk_arrow_options){.columns = columns, .ps = ps});
}

static void drop(struct taken *v) {
  v->schema.release(&v->schema);
  v->batch.release(&v->batch);
}

static int64_t column_of(const struct taken *v, const char *name) {
  for (int64_t i = 0; i < v->schema.n_children; i++)
    if (strcmp(v->schema.children[i]->name, name) == 0) return i;
  fail_msg("no column '%s'", name);
  return -1;
}

static bool is_null(const struct ArrowArray *a, int64_t row) {
  const uint8_t *valid = a->buffers[0];
  return valid && !(valid[row >> 3] >> (row & 7) & 1);
}

/* Returns the value of a cell as text: "null", a number or a string. */
static const char *cell(const struct taken *v, const char *name, int64_t row) {
  static char out[64];
  const int64_t i = column_of(v, name);
  const struct ArrowArray *a = v->batch.children[i];
  const char format = *v->schema.children[i]->format;
  if (is_null(a, row)) return "null";
  if (v->schema.children[i]->dictionary) {
    const int64_t place = format == 'c' ? ((const int8_t *)a->buffers[1])[row]
                                        : format == 's' ? ((const int16_t *)a->buffers[1])[row] : ((const int32_t *)a->buffers[1])[row];
    const int32_t *at = a->dictionary->buffers[1];
    assert_true(place >= 0 && place < a->dictionary->length);
    snprintf(out, sizeof out, "%.*s", (int)(at[place + 1] - at[place]), (const char *)a->dictionary->buffers[2] + at[place]);
    return out;
  }
  switch (format) {
  case 'b': snprintf(out, sizeof out, "%d", ((const uint8_t *)a->buffers[1])[row >> 3] >> (row & 7) & 1); break;
  case 'S': snprintf(out, sizeof out, "%u", ((const uint16_t *)a->buffers[1])[row]); break;
  case 'I': snprintf(out, sizeof out, "%u", ((const uint32_t *)a->buffers[1])[row]); break;
  case 'l': snprintf(out, sizeof out, "%lld", (long long)((const int64_t *)a->buffers[1])[row]); break;
  default: snprintf(out, sizeof out, "%d/1000", (int)(((const double *)a->buffers[1])[row] * 1000)); break;
  }
  return out;
}

/* Returns the row of the event with this name, depth and kind. */
static int64_t row_of(const struct tk_trace *t, const char *name, uint16_t depth, int kind) {
  for (tk_id i = 1; i <= t->n_events; i++)
    if (strcmp(tk_string(t, t->classes[t->events[i].cls].name, NULL), name) == 0 && t->events[i].depth == depth &&
        t->events[i].kind == kind)
      return i - 1;
  fail_msg("no event '%s'", name);
  return -1;
}

static void events(void **state) {
  (void)state;
  struct tk_trace *t = feed_text(text);
  const char *const columns[] = {"name", "ts", "dur", "cat", "type", "depth", "parent", "pid", "tid", "process", "self", "unfinished",
                                 "arg.n", "arg.m", "arg.s", "arg.none", "id", NULL};
  const int64_t a = row_of(t, "a", 0, TK_EVENT_SPAN), b = row_of(t, "b", 1, TK_EVENT_SPAN), open = row_of(t, "open", 0, TK_EVENT_SPAN),
                instant = row_of(t, "a", 0, TK_EVENT_INSTANT);
  struct taken v = take(t, TK_TABLE_EVENTS, columns, false);
  assert_int_equal(v.batch.length, 4);
  assert_string_equal(cell(&v, "name", a), "a");
  assert_string_equal(cell(&v, "ts", a), "1000");
  assert_string_equal(cell(&v, "dur", a), "10001"); /* 10.0006 us */
  assert_string_equal(cell(&v, "self", a), "7001");
  assert_string_equal(cell(&v, "cat", a), "c");
  assert_string_equal(cell(&v, "cat", b), "null");
  assert_string_equal(cell(&v, "type", a), "span");
  assert_string_equal(cell(&v, "type", instant), "instant");
  assert_string_equal(cell(&v, "depth", b), "1");
  assert_string_equal(cell(&v, "parent", a), "null");
  assert_int_equal(atoll(cell(&v, "parent", b)), a + 1);
  assert_int_equal(atoll(cell(&v, "id", b)), b + 1);
  assert_string_equal(cell(&v, "pid", a), "1");
  assert_string_equal(cell(&v, "pid", instant), "null"); /* the pid is a string */
  assert_string_equal(cell(&v, "process", b), "main");
  assert_string_equal(cell(&v, "dur", open), "null");
  assert_string_equal(cell(&v, "unfinished", open), "1");
  assert_string_equal(cell(&v, "unfinished", a), "0");
  assert_string_equal(cell(&v, "arg.n", a), "3000/1000"); /* numeric if any value is a number */
  assert_string_equal(cell(&v, "arg.n", b), "500/1000");
  assert_string_equal(cell(&v, "arg.n", open), "null");
  assert_string_equal(cell(&v, "arg.m", a), "1"); /* numbers and booleans become text */
  assert_string_equal(cell(&v, "arg.m", instant), "true");
  assert_string_equal(cell(&v, "arg.s", b), "4");
  assert_string_equal(cell(&v, "arg.none", a), "null");
  drop(&v);
  v = take(t, TK_TABLE_EVENTS, columns, true);
  assert_int_equal(t->origin_ns * 1000 + atoll(cell(&v, "ts", a)), 1000000);
  assert_string_equal(cell(&v, "dur", a), "10000600");
  tk_free(t); /* exported arrays outlive the trace */
  assert_string_equal(cell(&v, "name", b), "b");
  drop(&v);
}

/* A table without rows: no column has a value or a buffer for one. */
static void no_rows(void **state) {
  struct tk_trace *t = feed_text("{\"traceEvents\":[]}");
  (void)state;
  for (int i = 0; i < TK_TABLES; i++) {
    struct taken v = take(t, (enum tk_table)i, NULL, false);
    assert_int_equal(v.batch.length, 0);
    drop(&v);
  }
  tk_free(t);
}

static void other_tables(void **state) {
  (void)state;
  struct tk_trace *t = feed_text(text);
  for (int table = 0; table < TK_TABLES; table++) {
    struct taken v = take(t, (enum tk_table)table, NULL, false);
    assert_non_null(tk_table_name((enum tk_table)table));
    assert_string_equal(v.schema.children[0]->name, tk_table_column((enum tk_table)table, 0, NULL));
    if (table == TK_TABLE_FLOWS) {
      assert_int_equal(v.batch.length, 2);
      assert_string_equal(cell(&v, "flow", 0), "1");
      assert_string_equal(cell(&v, "flow", 1), "1");
      assert_string_equal(cell(&v, "role", 1), "end");
    }
    if (table == TK_TABLE_ARGS) assert_int_equal(v.batch.length, 7);
    if (table == TK_TABLE_TRACKS) assert_int_equal(v.batch.length, t->n_tracks);
    drop(&v);
  }
  tk_free(t);
}

/* Only collectives have a row; values that their args do not record are null. */
static void collectives(void **state) {
  static const char job[] =
      "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":3,\"world_size\":4},\"traceEvents\":["
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"gemm\"},"
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":9,\"ts\":4,\"dur\":5,\"name\":\"ncclDevKernel_AllReduce_Sum_f32\",\"args\":{"
      "\"Collective name\":\"allreduce\",\"Process Group Name\":\"0\",\"Group size\":4,\"Seq\":12,\"dtype\":\"Float\","
      "\"In msg nelems\":10,\"Out msg nelems\":10}},"
      "{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":0,\"tid\":9,\"ts\":14,\"dur\":5,\"name\":\"ncclDevKernel_AllGather\",\"args\":{"
      "\"In msg nelems\":-4,\"dtype\":7}}]}";
  static const char *const wanted[][3] = {{"event", "2", "3"}, {"dur", "5000", "5000"}, {"rank", "3", "3"}, {"step", "null", "null"},
                                          {"collective", "allreduce", "null"}, {"group", "0", "null"}, {"group_size", "4", "null"},
                                          {"seq", "12", "null"}, {"dtype", "Float", "7"}, {"in_elements", "10", "null"},
                                          {"out_elements", "10", "null"}, {"bytes", "40", "null"},
                                          {"name", "ncclDevKernel_AllReduce_Sum_f32", "ncclDevKernel_AllGather"}};
  (void)state;
  struct tk_trace *t = feed_text(job);
  struct taken v = take(t, TK_TABLE_COLLECTIVES, NULL, false);
  assert_int_equal(v.batch.length, 2);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    for (int64_t row = 0; row < 2; row++) assert_string_equal(cell(&v, wanted[i][0], row), wanted[i][row + 1]);
  drop(&v);
  tk_free(t);
}

/* A child array that is moved out stays valid, and the parent frees the others. */
static void moved_child(void **state) {
  (void)state;
  struct tk_trace *t = feed_text(text);
  struct taken v = take(t, TK_TABLE_EVENTS, NULL, false);
  struct ArrowArray moved = *v.batch.children[2];
  v.batch.children[2]->release = NULL;
  v.batch.release(&v.batch);
  v.schema.release(&v.schema);
  assert_int_equal(moved.length, 4);
  assert_non_null(moved.dictionary);
  moved.release(&moved);
  tk_free(t);
}

/* Columns of times have their unit in the metadata, and Arrow's types of time on request. */
static void times(void **state) {
  (void)state;
  struct tk_trace *t = feed_text(text);
  const char *const columns[] = {"ts", "dur", "name", NULL};
  const char *const formats[2][2] = {{"l", "l"}, {"tsn:", "tDn"}};
  const int32_t one = 1, four = 4, two = 2;
  struct ArrowArrayStream s;
  for (int typed = 0; typed < 2; typed++) {
    struct taken v = take_as(t, TK_TABLE_EVENTS, &(struct tk_arrow_options){.columns = columns, .typed = typed});
    for (int i = 0; i < 2; i++) {
      const char *m = v.schema.children[i]->metadata;
      assert_string_equal(v.schema.children[i]->format, formats[typed][i]);
      assert_true(memcmp(m, &one, 4) == 0 && memcmp(m + 4, &four, 4) == 0 && memcmp(m + 8, "unit", 4) == 0);
      assert_true(memcmp(m + 12, &two, 4) == 0 && memcmp(m + 16, "ns", 2) == 0);
    }
    assert_null(v.schema.children[2]->metadata);
    drop(&v);
  }
  assert_false(tk_arrow(t, TK_TABLE_EVENTS, &(struct tk_arrow_options){.ps = true, .typed = true}, &s, NULL));
  tk_free(t);
}

static void refused(void **state) {
  (void)state;
  struct tk_trace *t = feed_text(text);
  struct ArrowArrayStream s;
  struct tk_err err;
  const char *const unknown[] = {"name", "colour", NULL}, *const none[] = {NULL}, *const no_key[] = {"arg.", NULL};
  assert_false(tk_arrow(t, TK_TABLE_EVENTS, &(struct tk_arrow_options){.columns = unknown}, &s, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_non_null(strstr(err.msg, "'colour'"));
  assert_null(s.release);
  assert_false(tk_arrow(t, TK_TABLE_EVENTS, &(struct tk_arrow_options){.columns = none}, &s, &err));
  assert_false(tk_arrow(t, TK_TABLE_EVENTS, &(struct tk_arrow_options){.columns = no_key}, &s, &err));
  assert_false(tk_arrow(t, TK_TABLE_TRACKS, &(struct tk_arrow_options){.columns = unknown}, &s, NULL));
  assert_false(tk_arrow(t, TK_TABLES, NULL, &s, &err));
  assert_null(tk_table_name(TK_TABLES));
  tk_free(t);
}

/* Tables of every fixture have as many rows as events, whatever the index width of the dictionary. */
static void visit(const char *path, struct bytes b) {
  struct tk_err err;
  struct tk_trace *t = tk_load_memory(b.p, b.n, path, NULL, &err);
  if (!t) return;
  for (int table = 0; table < TK_TABLES; table++) {
    struct taken v = take(t, (enum tk_table)table, NULL, false);
    if (table == TK_TABLE_EVENTS) assert_int_equal(v.batch.length, t->n_events);
    for (tk_id i = 1; table == TK_TABLE_EVENTS && i <= t->n_events; i++) {
      size_t n;
      const char *name = tk_string(t, t->classes[t->events[i].cls].name, &n);
      if (t->classes[t->events[i].cls].name && n < 60 && !memchr(name, 0, n)) assert_string_equal(cell(&v, "name", i - 1), name);
    }
    drop(&v);
  }
  tk_free(t);
}

static void fixtures(void **state) {
  (void)state;
  each_fixture("json", 400000, visit);
  each_fixture("xplane", 400000, visit);
  each_fixture("perfetto", 400000, visit);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(events),      cmocka_unit_test(no_rows),     cmocka_unit_test(other_tables),
                                     cmocka_unit_test(collectives), cmocka_unit_test(moved_child), cmocka_unit_test(times),
                                     cmocka_unit_test(refused),     cmocka_unit_test(fixtures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
