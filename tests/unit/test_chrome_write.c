/* test_chrome_write.c - the output is strict JSON, contains every value unchanged, and reads back as the same graph, whatever
 * the strings, numbers and args. */
#include "help.h"
#include "graph/args.h"

static void rounds(const char *where, const struct tk_trace *t) {
  for (int pretty = 0; pretty < 2; pretty++) {
    struct bytes b = written(t, pretty);
    struct tk_err err;
    if (!strict_json(b.p, b.n)) fail_msg("%s: not strict JSON:\n%.2000s", where, b.p);
    struct tk_trace *again = feed_bytes(b.p, b.n, (struct feed){.strict = true}, &err);
    if (!again && err.option != TK_OPTION_STRICT) fail_msg("%s: %s", where, err.msg);
    if (!again) again = feed_bytes(b.p, b.n, (struct feed){0}, &err);
    assert_non_null(again);
    assert_int_equal(again->n_events, t->n_events);
    assert_int_equal(again->n_flow_points, t->n_flow_points);
    struct bytes twice = written(again, pretty);
    if (b.n != twice.n || memcmp(b.p, twice.p, b.n) != 0) expect(false, where, (char *)twice.p, (char *)b.p);
    free(twice.p);
    free(b.p);
    tk_free(again);
  }
}

static void file(const char *path, struct bytes b) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){0}, &err);
  if (t) rounds(path, t);
  tk_free(t);
}

static void fixtures(void **state) {
  (void)state;
  each_fixture("json", long_run() ? 64 << 20 : 400000, file);
  each_fixture("nasty/json", long_run() ? 64 << 20 : 400000, file);
}

/* ---- strings ---- */

/* Puts each of these strings into every place that allows a string. */
static void strings(void **state) {
  static const char *const texts[] = {"",
                                      "a",
                                      "\\\"",
                                      "\\\\",
                                      "/",
                                      "\\b\\f\\n\\r\\t",
                                      "\\u0000",
                                      "\\u001f",
                                      "\x7f",
                                      "\\u0080",
                                      "\\u2028",
                                      "\\ud83d\\ude00",
                                      "\xf0\x9f\x98\x80",
                                      "\\ufffe",
                                      "\\udbff\\udfff",
                                      "</script>",
                                      "%s%n",
                                      "\\u0041",
                                      "null",
                                      "5",
                                      "json.id",
                                      "json.args"};
  (void)state;
  for (size_t i = 0; i < LENGTH(texts); i++) {
    const char *s = texts[i];
    char text[2000];
    snprintf(
        text, sizeof text,
        "{\"k%s\":\"%s\",\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\",\"k%s\":1}"
        "},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":1,\"name\":\"%s\",\"cat\":\"%s\",\"x%s\":\"%s\",\"args\":{\"%s\":"
        "\"%s\",\"n\":[\"%s\",{\"%s\":1}]}},"
        "{\"ph\":\"b\",\"pid\":\"%s\",\"tid\":\"%s\",\"ts\":1,\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%s\",\"scope\":\"%s\"},"
        "{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"%s\",\"id\":\"%s\",\"args\":{\"%s\":1}},"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":7,\"ts\":1,\"name\":\"%s\",\"cat\":\"%s\",\"id\":\"%s\"}]}",
        s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s);
    struct tk_trace *t = feed_text(text);
    struct bytes b = written(t, false);
    struct tk_err err;
    struct tk_trace *again = feed_bytes(b.p, b.n, (struct feed){0}, &err);
    assert_non_null(again);
    char *one = dump_of(t), *two = dump_of(again);
    expect(strlen(one) == strlen(two), texts[i], two, one);
    rounds(texts[i], t);
    free(one), free(two), free(b.p);
    tk_free(t), tk_free(again);
  }
}

/* ---- exact text ---- */

static const struct {
  const char *event, *line;
} exact[] = {
    /* every field once: the writer's order, shorter numbers, other texts unchanged */
    {"{\"ts\":1.50,\"ph\":\"X\",\"name\":\"a\",\"dur\":2e0,\"pid\":1,\"tid\":\"7\",\"cat\":\"c\"}",
     "{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"a\",\"pid\":1,\"tid\":\"7\",\"ts\":1.5,\"dur\":2}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0}", "{\"ph\":\"X\",\"ts\":0,\"dur\":0}"},
    {"{\"ph\":\"X\",\"ts\":-1.000001,\"dur\":0.000001,\"name\":\"\"}",
     "{\"ph\":\"X\",\"name\":\"\",\"ts\":-1.000001,\"dur\":0.000001}"},
    {"{\"ph\":\"X\",\"ts\":1700000000000000.001,\"dur\":1}", "{\"ph\":\"X\",\"ts\":1700000000000000.001,\"dur\":1}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{\"a\":-1,\"b\":1.50,\"c\":[1, "
     "2.0],\"d\":null,\"e\":true,\"f\":\"\\u00e9\",\"g\":18446744073709551615}}",
     "{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{\"a\":-1,\"b\":1.50,\"c\":[1,2.0],\"d\":null,\"e\":true,\"f\":\"\xc3\xa9\","
     "\"g\":18446744073709551615}}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{}}", "{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{}}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":[1]}", "{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":[1]}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{\"json.x\":1}}", "{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"args\":{\"json.x\":1}}"},
    {"{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"cname\":\"good\",\"tts\":5}",
     "{\"ph\":\"X\",\"ts\":0,\"dur\":0,\"cname\":\"good\",\"tts\":5}"},
    {"{\"ph\":\"I\",\"ts\":0,\"s\":\"t\"}", "{\"ph\":\"I\",\"ts\":0,\"s\":\"t\"}"},
    {"{\"ph\":\"i\",\"ts\":0,\"s\":\"p\",\"pid\":1,\"tid\":7}", "{\"ph\":\"i\",\"pid\":1,\"ts\":0,\"s\":\"p\",\"tid\":7}"},
    {"{\"ph\":\"C\",\"ts\":0,\"name\":\"n\",\"args\":{\"v\":1e3}}",
     "{\"ph\":\"C\",\"name\":\"n\",\"ts\":0,\"args\":{\"v\":1e3}}"},
    {"{\"ph\":\"f\",\"ts\":0,\"name\":\"n\",\"cat\":\"c\",\"id\":7,\"bp\":\"e\"}",
     "{\"ph\":\"f\",\"cat\":\"c\",\"name\":\"n\",\"ts\":0,\"id\":7,\"bp\":\"e\"}"},
    {"{\"ph\":\"S\",\"ts\":0,\"name\":\"n\",\"id\":\"0x7\"}", "{\"ph\":\"S\",\"name\":\"n\",\"ts\":0,\"id\":\"0x7\"}"},
    {"{\"ph\":\"q\",\"ts\":1,\"x\":[1, 2]}", "{\"ph\":\"q\",\"x\":[1,2],\"ts\":1}"},
    {"{\"ph\":\"M\",\"pid\":1,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":\"x\"}}",
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"x\"},\"pid\":1,\"tid\":7}"},
};

/* Orders members for a comparison: the writer chooses the order, but the text of each member must match. */
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static unsigned members_of(char *object, char **to) {
  unsigned n = 0, depth = 0;
  bool quoted = false;
  to[n++] = object + 1;
  for (char *p = object + 1; *p; p++) {
    if (*p == '"' && p[-1] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (*p == '{' || *p == '[') depth++;
    if ((*p == '}' || *p == ']') && depth-- == 0) {
      *p = 0;
      break;
    }
    if (*p != ',' || depth) continue;
    *p = 0;
    to[n++] = p + 1;
  }
  qsort(to, n, sizeof *to, by_text);
  return n;
}

static void texts(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(exact); i++) {
    char text[500], want[500], *line, *got_members[32], *want_members[32];
    snprintf(text, sizeof text, "[%s]", exact[i].event);
    snprintf(want, sizeof want, "%s", exact[i].line);
    struct tk_trace *t = feed_text(text);
    struct bytes b = written(t, false);
    line = strstr((char *)b.p, "\n{");
    assert_non_null(line);
    *strchr(line + 1, '\n') = 0;
    unsigned n = members_of(line + 1, got_members), m = members_of(want, want_members);
    for (unsigned k = 0; k < n && k < m; k++)
      if (strcmp(got_members[k], want_members[k]) != 0)
        fail_msg("%s: got %s, expected %s", exact[i].event, got_members[k], want_members[k]);
    if (n != m) fail_msg("%s: %u members, expected %u", exact[i].event, n, m);
    free(b.p);
    tk_free(t);
  }
}

/* ---- values that only a graph can contain ---- */

static void other_types(void **state) {
  static const double doubles[] = {0.1, 1e300, -0.0, 5e-324, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0};
  struct tk_trace *t = trace_new(0);
  tk_id track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0), cls = trace_class(t, trace_text(t, "e"), 0);
  (void)state;
  for (size_t i = 0; i < LENGTH(doubles); i++) {
    args_begin(t);
    args_double(t, trace_text(t, "d"), doubles[i]);
    args_uint(t, trace_text(t, "p"), TK_ARG_POINTER, 0xffffffffffffffff);
    args_str(t, trace_text(t, "r"), TK_ARG_REF, trace_text(t, "\"quoted\""));
    args_str(t, trace_text(t, "b"), TK_ARG_BYTES, trace_string(t, "a\0\x1f", 3));
    args_decimal(t, trace_text(t, "m"), INT64_MIN, -64);
    uint32_t args = args_end(t);
    *trace_add_event(t) = (struct tk_event){.ts = (tk_time)i, .dur = 1, .cls = cls, .track = track, .args = args};
  }
  assert_true(seal(t, 1, NULL));
  rounds("types", t);
  tk_free(t);
}

static void nothing(void **state) {
  struct tk_trace *t = trace_new(0);
  (void)state;
  assert_true(seal(t, 1, NULL));
  struct bytes b = written(t, false);
  assert_true(strict_json(b.p, b.n));
  free(b.p);
  tk_free(t);
}

/* Spans as X and as B/E, nested and adjacent: the written pairs are the pairs that were read. */
static void pairs(void **state) {
  static const char *const bodies[] = {
    "B a 0,B b 1,E b 2,E a 3", "B a 0,E a 0,B b 0,E b 5", "B a 0,B b 0,E b 0,E a 0", "B a 0,B b 5,E b 10,E a 10,B c 10,E c 10",
    "B a 0,E b 5", "B a 0,B b 1", "B a 0,B b 1,E b 2"};
  (void)state;
  for (size_t i = 0; i < LENGTH(bodies); i++) {
    for (int x = 0; x < 2; x++) {
      char text[2000] = "[", copy[200], *save = NULL;
      snprintf(copy, sizeof copy, "%s", bodies[i]);
      for (char *p = strtok_r(copy, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s{\"ph\":\"%c\",\"pid\":1,\"tid\":7,\"name\":\"%c\",\"ts\":%s}", n > 1 ? "," : "",
                 p[0], p[2], p + 4);
      }
      strcat(text, x ? ",{\"ph\":\"X\",\"pid\":1,\"tid\":8,\"ts\":0,\"dur\":20}]" : "]");
      struct tk_trace *t = feed_text(text), *again;
      struct bytes b = written(t, false);
      again = feed_text((char *)b.p);
      char *one = dump_of(t), *two = dump_of(again), *end = strstr(one, "\nnote "), *end2 = strstr(two, "\nnote ");
      if (end) end[1] = 0;
      if (end2) end2[1] = 0;
      expect(strcmp(one, two) == 0, bodies[i], two, one);
      free(one), free(two), free(b.p);
      tk_free(t), tk_free(again);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(fixtures), cmocka_unit_test(strings), cmocka_unit_test(texts), cmocka_unit_test(other_types),
    cmocka_unit_test(nothing),  cmocka_unit_test(pairs),
  };
  return cmocka_run_group_tests_name("chrome_write", tests, NULL, NULL);
}
