/* test_chrome_template.c - the predicted path gives the same result as the general one: on every fixture, on generated traces,
 * on events with keys in any order, and on files made to mislead the prediction. */
#include "help.h"

static uint64_t predicted;

static void agree(const char *where, const void *p, size_t n) {
  struct tk_err err;
  char *general = dump_fed(p, n, (struct feed){.no_templates = true}), *fast = dump_fed(p, n, (struct feed){0});
  struct tk_trace *t;
  expect(strcmp(general, fast) == 0, where, fast, general);
  free(general);
  free(fast);
  t = feed_bytes(p, n, (struct feed){0}, &err);
  predicted = t ? t->counts.by_template : 0;
  tk_free(t);
}

static void file(const char *path, struct bytes b) { agree(path, b.p, b.n); }

static void fixtures(void **state) {
  (void)state;
  each_fixture("json", long_run() ? 64 << 20 : 3000000, file);
  each_fixture("nasty", long_run() ? 64 << 20 : 3000000, file);
}

static void generated(void **state) {
  static const char *const options[] = {"--seed 1", "--seed 2 --no-base", "--seed 3 --lines", "--seed 4 --compact",
                                        "--seed 5 --memory --no-stack"};
  const char *gen = getenv("GEN");
  (void)state;
  if (!gen || !*gen) skip();
  for (size_t i = 0; i < LENGTH(options); i++) {
    char command[4096];
    static uint8_t text[8 << 20];
    snprintf(command, sizeof command, "'%s' kineto --spans %d %s", gen, long_run() ? 10000 : 1500, options[i]);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text, f);
    assert_int_equal(pclose(f), 0);
    assert_true(n > 10000 && n < sizeof text);
    agree(options[i], text, n);
    assert_true(predicted > 500); /* otherwise this test would test nothing */
  }
}

/* ---- shuffled events ---- */

static uint32_t rng_state = 7;
static uint32_t rng(uint32_t n) { return (rng_state = rng_state * 1664525 + 1013904223, rng_state >> 8) % n; }

static const char *const members[][8] = {
    {"\"ph\":\"X\"", "\"ph\":\"i\"", "\"ph\":\"B\"", "\"ph\":\"E\"", "\"ph\":\"s\"", "\"ph\":\"C\"", "\"ph\":\"M\"",
     "\"ph\":\"b\""},
    {"\"pid\":1", "\"pid\":2", "\"pid\":\"1\"", "\"pid\":\"Spans\"", "\"pid\":-0", "\"pid\":1.0", "\"pid\":null",
     "\"pid\":99999999999"},
    {"\"tid\":7", "\"tid\":8", "\"tid\":\"7\"", "\"tid\":\"main\"", "\"tid\":007", "\"tid\":1e1", "\"tid\": 9", "\"tid\":true"},
    {"\"ts\":%u", "\"ts\":%u.5", "\"ts\":%u.123456789", "\"ts\":\"%u\"", "\"ts\":%ue0", "\"ts\":-%u", "\"ts\":%u.",
     "\"ts\":1%u23456789012345.67"},
    {"\"dur\":%u", "\"dur\":0", "\"dur\":-%u", "\"dur\":%u.25", "\"dur\":null", "\"dur\":1e%u", "\"dur\":\"%u\"",
     "\"dur\":%u000000000000000000"},
    {"\"name\":\"n%u\"", "\"name\":\"a\"", "\"name\":\"\"", "\"name\":\"\\u0061\"", "\"name\":5", "\"name\":\"\xc3\xa9\"",
     "\"name\":\"\xff\"", "\"name\":\"a\x01\""},
    {"\"cat\":\"c\"", "\"cat\":\"d\"", "\"cat\":null", "\"id\":%u", "\"id\":\"0x%u\"", "\"bp\":\"e\"", "\"s\":\"p\"",
     "\"s\":\"t\""},
    {"\"args\":{\"a\":%u,\"b\":\"x%u\"}", "\"args\":{\"a\":%u}", "\"args\":{}",
     "\"args\":{\"a\":%u.5,\"n\":[%u,{\"x\":\"y\"}]}", "\"args\":{\"a\":null,\"b\":true}", "\"args\":{\"a\":1,\"a\":%u}",
     "\"args\":[%u]", "\"args\":{\"a\":\"%u\\n\",\"json.id\":%u}"},
    {"\"x\":1", "\"tts\":%u", "\"cname\":\"good\"", "\"bind_id\":%u", "\"flow_out\":true", "\"flow_in\":true",
     "\"id2\":{\"local\":\"%u\"}", "\"scope\":\"s\""},
};

/* Writes an event in one of a few spellings, so that most spellings have been seen before. */
static size_t event(char *to, size_t room, uint32_t kinds) {
  unsigned order[LENGTH(members)], n = 0;
  size_t at = 0;
  uint32_t kind = rng(kinds), was = rng_state;
  rng_state = kind * 7919 + 13; /* one kind has the same members in the same order */
  for (unsigned i = 0; i < LENGTH(members); i++)
    if (rng(8)) order[n++] = i;
  for (unsigned i = n; i > 1; i--) {
    unsigned k = rng(i), swap = order[i - 1];
    order[i - 1] = order[k], order[k] = swap;
  }
  unsigned which[LENGTH(members)];
  for (unsigned i = 0; i < n; i++) which[i] = rng(3) ? 0 : rng(8);
  rng_state = was;
  at += (size_t)snprintf(to, room, "{");
  for (unsigned i = 0; i < n; i++) {
    unsigned choice = rng(40) ? which[i] : rng(8); /* occasionally a different value */
    const char *m = members[order[i]][choice];
    at += (size_t)snprintf(to + at, room - at, "%s", i ? "," : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
    at += (size_t)snprintf(to + at, room - at, m, rng(1000), rng(10));
#pragma GCC diagnostic pop
  }
  return at + (size_t)snprintf(to + at, room - at, "}");
}

static void shuffled(void **state) {
  static char text[400000];
  uint64_t fast = 0;
  (void)state;
  for (int round = 0; round < (long_run() ? 2000 : 150); round++) {
    size_t at = (size_t)snprintf(text, sizeof text, "[");
    unsigned n = 20 + rng(300);
    uint32_t kinds = 1 + rng(30);
    rng_state += (uint32_t)round;
    for (unsigned i = 0; i < n; i++) {
      at += (size_t)snprintf(text + at, sizeof text - at, "%s", i ? rng(50) ? "," : " ,\n " : "");
      at += event(text + at, sizeof text - at, kinds);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "]");
    agree("shuffled", text, at);
    fast += predicted;
  }
  assert_true(fast > 1000);
}

/* ---- traps ---- */

#define SEEN                                                                                                                   \
  "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":[1,"      \
  "\"x\"]}}"
static const char *const traps[] = {
    /* events with the same beginning and different ends */
    SEEN "," SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1."
                  "5,\"n\":[1,\"x\"]},\"x\":1}",
    SEEN "," SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1."
                  "5,\"n\":[1,\"x\"]}",
    /* values of a different type or form at a variable position */
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":\"1\",\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,"
         "\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":01,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":["
         "1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1e2,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":"
         "[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":-0,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":-0,\"s\":\"t\",\"d\":-0.0,"
         "\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":-2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":["
         "1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":99999999999999,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\","
         "\"d\":1.5,\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5.0,\"s\":\"t\",\"d\":1.5,\"n\":"
         "[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":99999999999999999999,\"s\":"
         "\"t\",\"d\":1.5,\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":9223372036854775807,\"s\":\"t\","
         "\"d\":922337203685477580.7,\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.50,\"n\":["
         "1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"\\u0074\",\"d\":1.5,"
         "\"n\":[1,\"\\u0078\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"\xff\",\"args\":{\"k\":5,\"s\":\"\xff\",\"d\":1.5,"
         "\"n\":[1,\"\xff\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"a \"b\" "
         "c\",\"d\":1.5,\"n\":[1,\"x\"]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":["
         "1,\"x\"}}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":["
         "1,2,]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":[["
         "[[]]]]}}",
    SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":\"t\",\"d\":1.5,\"n\":["
         "1,NaN]}}",
    /* timestamps far before and after the previous events */
    SEEN "," SEEN ",{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":99999999999999,\"dur\":2,\"name\":\"a\",\"args\":{\"k\":5,\"s\":"
                  "\"t\",\"d\":1.5,\"n\":[1,\"x\"]}}",
    /* duplicate keys; the same shape with different constants */
    "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":1,\"a\":2}},{\"ph\":\"X\",\"ts\":3,\"dur\":1,\"args\":{\"a\":3,\"a\":4}}",
    "{\"ph\":\"X\",\"ts\":1,\"ts\":2,\"dur\":1},{\"ph\":\"X\",\"ts\":3,\"ts\":4,\"dur\":1}",
    "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":null}},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":true}},{\"ph\":"
    "\"X\",\"ts\":2,\"dur\":1,\"args\":{\"a\":null}}",
    "{\"ph\":\"i\",\"ts\":1,\"s\":\"t\",\"tid\":1},{\"ph\":\"i\",\"ts\":2,\"s\":\"g\",\"tid\":2},{\"ph\":\"i\",\"ts\":3,\"s\":"
    "\"t\",\"tid\":3},{\"ph\":\"i\",\"ts\":4,\"s\":\"g\",\"tid\":4}",
    /* ids, bound points, async events */
    "{\"ph\":\"b\",\"ts\":1,\"id\":1},{\"ph\":\"e\",\"ts\":2,\"id\":1},{\"ph\":\"b\",\"ts\":3,\"id\":2},{\"ph\":\"e\",\"ts\":4,"
    "\"id\":2}",
    "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"bind_id\":1,\"flow_out\":true},{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"bind_id\":2,\"flow_"
    "out\":true}",
    "{\"ph\":\"s\",\"ts\":1,\"id\":1,\"args\":{\"k\":1}},{\"ph\":\"s\",\"ts\":2,\"id\":2,\"args\":{\"k\":2}},{\"ph\":\"s\","
    "\"ts\":3,\"id\":\"x\",\"args\":{\"k\":3}}",
    /* variable parts in the position of literals: keys inside values, strings that look like the remaining text */
    "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"\\\",\\\"ts\\\":5\"},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"x\"},{\"ph\":"
    "\"X\",\"ts\":1,\"dur\":1,\"name\":\"},{\"}",
    "{\"ph\":\"C\",\"ts\":1,\"name\":\"n\",\"args\":{\"v\":1}},{\"ph\":\"C\",\"ts\":2,\"name\":\"n\",\"args\":{\"v\":NaN}},{"
    "\"ph\":\"C\",\"ts\":3,\"name\":\"n\",\"args\":{\"v\":2.5}}",
};

static void misled(void **state) {
  static char text[1 << 16];
  (void)state;
  for (size_t i = 0; i < LENGTH(traps); i++) {
    for (int repeats = 1; repeats <= 3; repeats++) {
      size_t at = (size_t)snprintf(text, sizeof text, "[");
      for (int k = 0; k < repeats; k++) at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? "," : "", traps[i]);
      at += (size_t)snprintf(text + at, sizeof text - at, "]");
      agree(traps[i], text, at);
    }
  }
}

/* More spellings, children and values than the prediction tree can hold, and literals that are too long. */
static void overfull(void **state) {
  size_t room = 8 << 20, at;
  char *text = malloc(room);
  (void)state;
  assert_non_null(text);
  at = (size_t)snprintf(text, room, "[{\"ph\":\"X\",\"ts\":0,\"dur\":0}");
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 6000; i++)
      at += (size_t)snprintf(text + at, room - at, ",{\"ph\":\"X\",\"k%d\":1,\"ts\":%d,\"dur\":1,\"args\":{\"l%d\":2}}", i, i,
                             i % 77);
  for (int round = 0; round < 3; round++) {
    at += (size_t)snprintf(text + at, room - at, ",{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"args\":{", round);
    for (int i = 0; i < 300; i++) at += (size_t)snprintf(text + at, room - at, "%s\"m%d\":%d", i ? "," : "", i, i + round);
    at += (size_t)snprintf(text + at, room - at, "}},{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"cat\":\"", round);
    memset(text + at, 'c', 10000);
    at += 10000;
    at += (size_t)snprintf(text + at, room - at, "\"}");
  }
  at += (size_t)snprintf(text + at, room - at, "]");
  agree("overfull", text, at);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixtures), cmocka_unit_test(generated), cmocka_unit_test(shuffled),
      cmocka_unit_test(misled),   cmocka_unit_test(overfull),
  };
  return cmocka_run_group_tests_name("chrome_predict", tests, NULL, NULL);
}
