/* test_chrome_read.c - the result does not depend on how bytes arrive; a read error is reported with its offset; a truncated
 * file gives only items that the complete file contains. */
#include "help.h"
#include "format/chrome/read/read.h"

/* ---- chunks ---- */

static void same_in_chunks(const char *path, struct bytes b) {
  static const size_t chunks[] = {1, 7, 4096};
  char *whole = dump_fed(b.p, b.n, (struct feed){0});
  for (size_t i = 0; i < LENGTH(chunks); i++) {
    if (chunks[i] == 1 && b.n > 300000 && !long_run()) continue;
    char *dump = dump_fed(b.p, b.n, (struct feed){.chunk = chunks[i]});
    expect(strcmp(dump, whole) == 0, path, dump, whole);
    free(dump);
  }
  free(whole);
}

static void chunks(void **state) {
  (void)state;
  each_fixture("nasty", long_run() ? 64 << 20 : 400000, same_in_chunks);
  each_fixture("json", long_run() ? 64 << 20 : 300000, same_in_chunks);
}

/* ---- read errors ---- */

static const char small[] =
    "{\"schemaVersion\":1,\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"main\"}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":10.5,\"dur\":1234,\"name\":\"a\\u00e9\",\"args\":{\"k\":[1,{\"l\":\"m\"}],\"n\":"
    "12.50}},\n"
    "{\"ph\":\"B\",\"pid\":1,\"tid\":8,\"ts\":12,\"name\":\"b\"},\n{\"ph\":\"E\",\"pid\":1,\"tid\":8,\"ts\":1200,\"name\":"
    "\"b\"},\n"
    "{\"ph\":\"s\",\"pid\":1,\"tid\":7,\"ts\":11,\"id\":55,\"name\":\"f\",\"cat\":\"c\"},\n"
    "{\"ph\":\"C\",\"pid\":1,\"ts\":20,\"name\":\"n\",\"args\":{\"v\":100}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":2000,\"dur\":5,\"name\":\"z\",\"args\":{\"k\":[1,{\"l\":\"m\"}],\"n\":12.50}}\n"
    "],\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1700000000000000000}\n";

static void read_errors(void **state) {
  (void)state;
  for (size_t at = 0; at <= strlen(small); at++) {
    for (size_t chunk = 0; chunk < 6; chunk += 5) {
      struct tk_err err;
      struct tk_trace *t = feed_bytes(small, strlen(small), (struct feed){.chunk = chunk, .fail_at = at + 1}, &err);
      if (t) fail_msg("a failure at byte %zu was not heard of", at);
      assert_int_equal(err.code, TK_EREAD);
      assert_non_null(strstr(err.msg, "cannot read"));
      assert_non_null(strstr(err.msg, "test.json"));
    }
  }
}

/* ---- truncation ---- */

/* Collects the lines of a dump that are events, flow points or records. */
static unsigned lines_of(char *dump, char **lines, unsigned most) {
  unsigned n = 0;
  for (char *p = strtok(dump, "\n"); p && n < most; p = strtok(NULL, "\n"))
    if (strncmp(p, "  ", 2) == 0 || strncmp(p, "flow ", 5) == 0 || strncmp(p, "record ", 7) == 0) lines[n++] = p;
  return n;
}

static bool same_but_end(const char *line, const char *whole) {
  const char *cut = strstr(line, " paired unfinished"), *flow = strstr(line, " -> ");
  if (strcmp(line, whole) == 0) return true;
  if (flow || strncmp(line, "flow ", 5) == 0) return strncmp(line, whole, 20) == 0; /* the bound event may be lost */
  return cut && strncmp(line, whole, (size_t)(strchr(line, '+') - line)) == 0;
}

/* Timestamps are comparable only with equal origins, so every file here begins with its earliest event. */
static void cut_everywhere(const char *name, const char *text, size_t n) {
  char *whole = dump_fed(text, n, (struct feed){0}), *whole_lines[500], *lines[500];
  unsigned n_whole = lines_of(whole, whole_lines, 500), most = 0;
  for (size_t cut = 0; cut <= n; cut++) {
    for (int predict = 0; predict < 2; predict++) {
      char *dump = dump_fed(text, cut, (struct feed){.no_templates = !predict});
      unsigned n_lines = lines_of(dump, lines, 500);
      for (unsigned i = 0; i < n_lines; i++) {
        bool found = false;
        for (unsigned k = 0; k < n_whole && !found; k++) found = same_but_end(lines[i], whole_lines[k]);
        if (!found) fail_msg("%s: cut at byte %zu: this was not in it:\n%s", name, cut, lines[i]);
      }
      assert_true(n_lines <= n_whole);
      if (n_lines > most) most = n_lines;
      assert_true(n_lines + 1 >= most || cut < n / 2);
      free(dump);
    }
  }
  assert_int_equal(most, n_whole);
  free(whole);
}

static void truncation(void **state) {
  const char *array = strchr(small, '[');
  size_t n = (size_t)(strstr(small, "\n],") - array);
  char lines[sizeof small];
  (void)state;
  cut_everywhere("object", small, strlen(small));
  cut_everywhere("array", array, n);
  memcpy(lines, array + 2, n - 2); /* one event per line: some lines lack a comma, and one file has no brackets */
  lines[n - 2] = 0;
  cut_everywhere("lines", lines, n - 2);
}

/* Truncation causes a note or an error, unless only whitespace is missing. */
static void cuts_are_announced(void **state) {
  (void)state;
  for (size_t cut = 0; cut + 2 < strlen(small); cut++) {
    struct tk_err err;
    struct tk_trace *t = feed_bytes(small, cut, (struct feed){0}, &err);
    if (!t) continue;
    assert_true(t->truncated);
    bool repair = false;
    for (tk_id i = 1; i <= t->n_notes; i++) repair = repair || t->notes[i].kind == TK_NOTE_REPAIR;
    if (!repair) fail_msg("cut at %zu", cut);
    tk_free(t);
    assert_null(feed_bytes(small, cut, (struct feed){.strict = true}, &err));
    assert_int_equal(err.code, TK_ECORRUPT);
  }
}

/* ---- counting ---- */

static void counts(void **state) {
  struct tk_trace *t = feed_text("[{\"ph\":\"X\",\"ts\":0,\"dur\":1},{\"ph\":\"M\",\"name\":\"x\"},{},{\"ph\":\"X\",\"ts\":\"?"
                                 "\"},5,{\"ph\":\"E\",\"ts\":1},{\"name\":1}]");
  (void)state;
  assert_int_equal(t->counts.read, 6);
  assert_int_equal(t->counts.empty, 1);
  assert_int_equal(t->counts.dropped, 3);
  assert_int_equal(t->counts.by_phase['X'], 2);
  assert_int_equal(t->counts.by_phase['M'], 1);
  assert_int_equal(t->counts.by_phase[0], 1);
  assert_int_equal(t->n_events, 1);
  assert_int_equal(t->n_records, 3);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(chunks),             cmocka_unit_test(read_errors), cmocka_unit_test(truncation),
    cmocka_unit_test(cuts_are_announced), cmocka_unit_test(counts),
  };
  return cmocka_run_group_tests_name("chrome_read", tests, NULL, NULL);
}
