/* test_json.c - the scanner: each function by a table of cases; if the window ends anywhere in a text, the scanner asks for
 * more, and never takes a prefix of valid text for an error. */
#include "help.h"

#include "format/json.h"

static struct mem pool;

/* Returns a scanner over exactly the text, followed by the zeros that it may read beyond the window. */
static struct json over(const char *text, size_t n, bool last) {
  static uint8_t window[4096];
  assert_true(n + 64 <= sizeof window);
  memset(window, 0, sizeof window);
  memcpy(window, text, n);
  return (struct json){.p = window, .end = window + n, .last = last, .scratch = {.mem = &pool}};
}

/* ---- values ---- */

static const struct value_case {
  const char *text;
  enum json_type type;
  const char *said; /* text of a string or number; NULL = invalid */
  unsigned fixes;
} values[] = {
  {"null,", JSON_NULL, "null", 0},
  {" \t\r\n true}", JSON_TRUE, "true", 0},
  {"false]", JSON_FALSE, "false", 0},
  {"12,", JSON_NUMBER, "12", 0},
  {"-1.5e3}", JSON_NUMBER, "-1.5e3", 0},
  {"\"a\",", JSON_STRING, "a", 0},
  {"\"\",", JSON_STRING, "", 0},
  {"\"a\\\"b\",", JSON_STRING, "a\"b", 0},
  {"\"\\\\\",", JSON_STRING, "\\", 0},
  {"\"\\u00e9\",", JSON_STRING, "\xc3\xa9", 0},
  {"{\"a\":[1,{}]},", JSON_OBJECT, "{\"a\":[1,{}]}", 0},
  {"[ ],", JSON_ARRAY, "[ ]", 0},
  {"[\"]\"],", JSON_ARRAY, "[\"]\"]", 0},
  {"NaN,", JSON_STRING, "NaN", 1},
  {"-Infinity}", JSON_STRING, "-Infinity", 1},
  {"-nan,", JSON_STRING, "NaN", 1},
  {"True,", JSON_TRUE, "True", 1},
  {"None,", JSON_NULL, "None", 1},
  {"undefined]", JSON_NULL, "undefined", 1},
  {"+5,", JSON_NUMBER, "+5", 1},
  {".5,", JSON_NUMBER, ".5", 1},
  {"5.,", JSON_NUMBER, "5.", 1},
  {"\"a \"b\" c\",", JSON_STRING, "a \"b\" c", 2},
  {"0x10,", JSON_NUMBER, "0x10", 1},
  {"007,", JSON_NUMBER, "007", 1},
  {"nul,", JSON_STRING, "nul", 1},
  {"truely,", JSON_STRING, "truely", 1},
  {"N/A}", JSON_STRING, "N/A", 1},
  {"a/b,", JSON_STRING, "a/b", 1},
  {"true/* so */,", JSON_TRUE, "true", 0},
  {"1.#INF,", JSON_STRING, "Infinity", 1},
  {"-nan(ind)}", JSON_STRING, "NaN", 1},
  {"a/,", JSON_NULL, NULL, 0},
  {"1.2.3,", JSON_NULL, NULL, 0},
  {"--1,", JSON_NULL, NULL, 0},
  {"1e,", JSON_NULL, NULL, 0},
  {"'a',", JSON_NULL, NULL, 0},
  {"}", JSON_NULL, NULL, 0},
  {",", JSON_NULL, NULL, 0},
  {"\"a\" b\n\"c\",", JSON_NULL, NULL, 0},
};

static void value(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(values); i++) {
    const struct value_case *c = &values[i];
    struct json j = over(c->text, strlen(c->text), true);
    struct json_value v;
    size_t n;
    bool ok = json_value(&j, &v);
    if (ok != (c->said != NULL) || (j.status == JSON_OK) != ok) fail_msg("%s: %s", c->text, ok ? "read" : j.why);
    if (!ok) {
      assert_int_equal(j.status, JSON_BAD);
      assert_non_null(j.why);
      continue;
    }
    const uint8_t *p = v.type == JSON_STRING ? json_string_text(&j, &v.str, &n) : (n = (size_t)(v.end - v.p), v.p);
    if (v.type != c->type || n != strlen(c->said) || memcmp(p, c->said, n) != 0) fail_msg("%s: type %d", c->text, (int)v.type);
    if (j.n_fixes != c->fixes) fail_msg("%s: %u fixes", c->text, j.n_fixes);
    assert_ptr_equal(v.end, j.p);
    assert_int_equal(v.fixed, c->fixes != 0);
    buf_free(&j.scratch);
  }
}

/* Faults are reported at their offset. */
static void places(void **state) {
  static const struct {
    const char *text;
    size_t at;
  } t[] = {{"{\"a\":1 \"b\":2}", 7}, {"[1 2]", 3}, {"{\"a\" 1}", 5}, {"{1:2}", 1}, {"[1,,2]", 3},
           {"{\"a\":}", 5},          {"[1}", 2},   {"{\"a\":1]", 6}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    struct json j = over(t[i].text, strlen(t[i].text), true);
    const uint8_t *from = j.p;
    struct buf out = {.mem = &pool};
    assert_false(json_copy(&j, &out));
    if (j.status != JSON_BAD || (size_t)(j.at - from) != t[i].at) fail_msg("%s: at %td: %s", t[i].text, j.at - from, j.why);
    buf_free(&out);
    buf_free(&j.scratch);
  }
}

/* ---- copying ---- */

static const struct { const char *text, *copy; } copies[] = {
  {"1", "1"},
  {" [ 1 , 2.50 , 1E3 , -0 ] ", "[1,2.50,1E3,-0]"},
  {"{ \"a\" : { } , \"b\" : [ ] }", "{\"a\":{},\"b\":[]}"},
  {"\"\\u0041\\/\\ud83d\\ude00\\n\\u0000\"", "\"A/\xf0\x9f\x98\x80\\n\\u0000\""},
  {"{\"\\u0061\":\"\\\"\\\\\"}", "{\"a\":\"\\\"\\\\\"}"},
  {"[True, None, nan, +5, .5, 5.]", "[true,null,\"NaN\",5,0.5,5.0]"},
  {"[1,]", "[1]"},
  {"{\"a\":1,}", "{\"a\":1}"},
  {"{a\" : 1, b_2: [{c: 2}]}", "{\"a\":1,\"b_2\":[{\"c\":2}]}"},
  {"[\"\"is \"fast\"\nenough\"\"]", "[\"\\\"is \\\"fast\\\"\\nenough\\\"\"]"},
  {"[\"a\x01\"]", "[\"a\\u0001\"]"},
  {"[\"\xff\"]", "[\"\xef\xbf\xbd\"]"},
  {"[\"\\ud83d\"]", "[\"\xef\xbf\xbd\"]"},
  {"[\"\\x\"]", "[\"\\\\x\"]"},
};

static void copy(void **state) {
  (void)state;
  for (size_t i = 0; i < LENGTH(copies); i++) {
    char text[256];
    int n = snprintf(text, sizeof text, "%s,", copies[i].text); /* the end of the input does not terminate a number */
    struct json j = over(text, (size_t)n, true);
    struct buf out = {.mem = &pool};
    if (!json_copy(&j, &out)) fail_msg("%s: %s", text, j.why);
    buf_append(&out, "", 1);
    assert_string_equal((char *)out.data, copies[i].copy);
    assert_true(strict_json(out.data, out.len - 1));
    buf_free(&out);
    buf_free(&j.scratch);
  }
}

static void copy_deep(void **state) {
  enum { DEEP = 100000 };
  static uint8_t text[2 * DEEP + 128];
  struct buf out = {.mem = &pool};
  struct json j = {.p = text, .end = text + 2 * DEEP + 1, .last = true, .scratch = {.mem = &pool}};
  (void)state;
  memset(text, '[', DEEP);
  memset(text + DEEP, ']', DEEP);
  text[2 * DEEP] = ',';
  assert_true(json_copy(&j, &out));
  assert_int_equal(j.n_fixes, 1);
  assert_int_equal(out.len, 2 * JSON_DEPTH + 4);
  assert_true(strict_json(out.data, out.len));
  j.p = text;
  assert_true(json_skip(&j));
  assert_ptr_equal(j.p, text + 2 * DEEP);
  buf_free(&out);
}

/* ---- windows ---- */

static const char document[] = "{\"k\\u0065y\" : [1, -2.5e-3, true, false, null, \"text \\\" \\\\ \\ud83d\\ude00 "
                               "\xe2\x82\xac\", {\"a\":{\"b\":[[],{}]}}, +5, None, "
                               "NaN, 12345678901234567890123], \"x\":\"un\"quoted\",\n \"y\":-Infinity} ,";
static const size_t VALUE_ENDS = sizeof document - 3;

/* Wherever the window ends, the scanner asks for more; how far it looks ahead is not specified. Only copying handles unescaped
 * quotes. */
static void prefixes(void **state) {
  char text[sizeof document + 65];
  (void)state;
  memset(text, ' ', sizeof text);
  text[sizeof text - 1] = 0;
  memcpy(text, document, strlen(document));
  for (int what = 0; what < 3; what++) {
    if (what == 1) *strstr(text, "\"quoted") = 'x';
    for (size_t cut = 0; cut < sizeof text; cut++) {
      struct json j = over(text, cut, false);
      struct json_value v;
      struct buf out = {.mem = &pool};
      bool ok = what == 0 ? json_copy(&j, &out) : what == 1 ? json_value(&j, &v) : json_skip(&j);
      if (j.status == JSON_BAD) fail_msg("cut at %zu: function %d calls it bad: %s", cut, what, j.why);
      if (ok ? cut < VALUE_ENDS : cut == sizeof text - 1)
        fail_msg("cut at %zu: function %d: %s", cut, what, ok ? "read" : "wants more");
      buf_free(&out);
      buf_free(&j.scratch);
    }
  }
}

/* At the end of the input the same prefixes are errors, reported at the end. */
static void cut_inputs(void **state) {
  (void)state;
  for (size_t cut = 0; cut < VALUE_ENDS; cut++) {
    struct json j = over(document, cut, true);
    struct buf out = {.mem = &pool};
    const uint8_t *end = j.end;
    assert_false(json_copy(&j, &out));
    if (j.status != JSON_BAD) fail_msg("cut at %zu: status %d", cut, (int)j.status);
    assert_true(j.at <= end);
    buf_free(&out);
    buf_free(&j.scratch);
  }
}

static void keys(void **state) {
  static const char text[] = "\"k\\u0065y\" : 1";
  struct json_string key;
  (void)state;
  for (size_t cut = 0; cut < sizeof text; cut++) {
    struct json j = over(text, cut, false);
    bool ok = json_key(&j, &key);
    assert_int_equal(ok, cut >= 12);
    assert_int_equal(j.status, cut >= 12 ? JSON_OK : JSON_MORE);
    if (ok) {
      assert_true(json_is(&j, &key, "key"));
      assert_false(json_is(&j, &key, "ke"));
      assert_false(json_is(&j, &key, "keys"));
    }
    buf_free(&j.scratch);
  }
}

static void member(void **state) {
  static const char text[128] = "{\"a\":1,\"b\":{\"c\":2},\"d\":\"x\"}";
  struct json_value v;
  (void)state;
  assert_true(json_member(text, strlen(text), "a", &v));
  assert_int_equal(v.num.mant, 1);
  assert_true(json_member(text, strlen(text), "b", &v));
  assert_int_equal(v.type, JSON_OBJECT);
  assert_true(json_member(text, strlen(text), "d", &v));
  assert_int_equal(v.str.n, 1);
  assert_false(json_member(text, strlen(text), "c", &v));
  static const char lines[128] = "{\"a\":[],\n\"b\" : 7\n}";
  assert_true(json_member(lines, strlen(lines), "b", &v));
  assert_int_equal(v.num.mant, 7);
  assert_false(json_member(lines, strlen(lines), "c", &v));
  assert_false(json_member("[1]", 3, "a", &v));
  assert_false(json_member("{}", 2, "a", &v));
  assert_false(json_member("", 0, "a", &v));
}

/* ---- text ---- */

static void utf8(void **state) {
  static const struct {
    const char *text;
    bool ok;
  } t[] = {{"", true},
           {"abc", true},
           {"\xc2\x80", true},
           {"\xdf\xbf", true},
           {"\xe0\xa0\x80", true},
           {"\xed\x9f\xbf", true},
           {"\xee\x80\x80", true},
           {"\xef\xbf\xbf", true},
           {"\xf0\x90\x80\x80", true},
           {"\xf4\x8f\xbf\xbf", true},
           {"eight by\xc3\xa9", true},
           {"\x80", false},
           {"\xbf", false},
           {"\xc0\x80", false},
           {"\xc1\xbf", false},
           {"\xe0\x9f\xbf", false},
           {"\xed\xa0\x80", false},
           {"\xed\xbf\xbf", false},
           {"\xf0\x8f\xbf\xbf", false},
           {"\xf4\x90\x80\x80", false},
           {"\xf5\x80\x80\x80", false},
           {"\xff", false},
           {"\xc3", false},
           {"\xe2\x82", false},
           {"\xf0\x9f\x98", false},
           {"\xc3(", false},
           {"\xe2\x82(", false},
           {"\xf0\x9f\x98(", false},
           {"long text that is fine up to \xe9 here", false}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    size_t n = strlen(t[i].text);
    uint8_t *exact = malloc(n ? n : 1); /* a sanitizer detects a read beyond the end */
    assert_non_null(exact);
    memcpy(exact, t[i].text, n);
    if (utf8_valid(exact, n) != t[i].ok) fail_msg("case %zu", i);
    free(exact);
  }
}

/* Every code point, escaped and raw, is unchanged; every surrogate is replaced. */
static void code_points(void **state) {
  (void)state;
  for (uint32_t c = 1; c < 0x110000; c += c < 0x900 ? 1 : 61) {
    char escaped[16], quoted[16];
    struct json j = {.last = true, .scratch = {.mem = &pool}};
    struct buf out = {.mem = &pool}, again = {.mem = &pool};
    bool surrogate = c >= 0xd800 && c < 0xe000;
    int n = c < 0x10000
                ? snprintf(escaped, sizeof escaped, "\\u%04x", c)
                : snprintf(escaped, sizeof escaped, "\\u%04X\\u%04X", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
    assert_true(json_decode(&j, (uint8_t *)escaped, (size_t)n, &out));
    assert_true(utf8_valid(out.data, out.len));
    assert_int_equal(j.n_fixes, surrogate);
    if (surrogate) assert_memory_equal(out.data, "\xef\xbf\xbd", 3);
    size_t m = json_escape((uint8_t *)quoted, out.data, out.len);
    assert_true(m <= 6 * out.len);
    assert_int_equal(json_clean(out.data, out.len), m == out.len);
    assert_true(json_decode(&j, (uint8_t *)quoted, m, &again));
    assert_int_equal(again.len, out.len);
    assert_memory_equal(again.data, out.data, out.len);
    buf_free(&out);
    buf_free(&again);
  }
}

static void decode(void **state) {
  static const struct {
    const char *text, *said;
    unsigned fixes;
  } t[] = {{"\\b\\f\\n\\r\\t\\/\\\\\\\"", "\b\f\n\r\t/\\\"", 0},
           {"\\u00", "\\u00", 1},
           {"\\uzzzz", "\\uzzzz", 1},
           {"\\", "\\", 1},
           {"\\q", "\\q", 1},
           {"C:\\Users\\new\\b.py", "C:\\Users\\new\\b.py", 3}, /* not escaped at all: a path */
           {"\\d\\n\\", "\\d\\n\\", 3},
           {"\\d\\n\\\\", "\\d\n\\", 1}, /* escaped, except for \d */
           {"\\ud83dx", "\xef\xbf\xbdx", 1},
           {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd", 2},
           {"\\ud83d\\u0041",
            "\xef\xbf\xbd"
            "A",
            1},
           {"a\xe2\x82", "a\xef\xbf\xbd", 1},
           {"\x01", "\x01", 1}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    struct json j = {.last = true};
    struct buf out = {.mem = &pool};
    assert_true(json_decode(&j, (const uint8_t *)t[i].text, strlen(t[i].text), &out));
    if (out.len != strlen(t[i].said) || memcmp(out.data, t[i].said, out.len) != 0 || j.n_fixes != t[i].fixes)
      fail_msg("%s: %.*s, %u fixes", t[i].text, (int)out.len, out.data, j.n_fixes);
    buf_free(&out);
  }
}

static void quote(void **state) {
  struct buf out = {.mem = &pool};
  (void)state;
  assert_true(json_quote(&out, "a\"\\\n\0\x1f\x7f/\xe2\x82\xac", 11));
  static const char want[] = "\"a\\\"\\\\\\n\\u0000\\u001f\x7f/\xe2\x82\xac\"";
  assert_int_equal(out.len, sizeof want - 1);
  assert_memory_equal(out.data, want, sizeof want - 1);
  buf_free(&out);
}

/* A string in which each character needs a repair: only the first repairs are listed, and scanning continues. */
static void many_fixes(void **state) {
  char text[1000];
  struct json j;
  struct buf out = {.mem = &pool};
  (void)state;
  memset(text, 1, sizeof text);
  text[0] = text[sizeof text - 2] = '"';
  text[sizeof text - 1] = ',';
  j = over(text, sizeof text, true);
  assert_true(json_copy(&j, &out));
  assert_int_equal(j.n_fixes, JSON_FIXES);
  buf_free(&out);
  buf_free(&j.scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value),      cmocka_unit_test(places),      cmocka_unit_test(copy),   cmocka_unit_test(copy_deep),
      cmocka_unit_test(prefixes),   cmocka_unit_test(cut_inputs),  cmocka_unit_test(keys),   cmocka_unit_test(member),
      cmocka_unit_test(utf8),       cmocka_unit_test(code_points), cmocka_unit_test(decode), cmocka_unit_test(quote),
      cmocka_unit_test(many_fixes),
  };
  return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
