/* test_chrome_chunks.c - a file read by several threads gives the same trace, id by id and byte by byte, wherever its text is
 * split: all fixtures, generated traces, and files with chunks that must be reread sequentially. */
#include "agree.h"

static void all_ways(const char *where, const void *p, size_t n) {
  static const size_t shares[] = {24, 100, 700, 5000, 60000};
  for (size_t i = 0; i < LENGTH(shares); i++)
    if (i == 0 || shares[i] < n) agree(where, p, n, (struct feed){.threads = 2 + (unsigned)i % 3, .share = shares[i]});
  agree(where, p, n, (struct feed){.threads = 3, .share = 200, .chunk = 77});
  agree(where, p, n, (struct feed){.threads = 3, .share = 300, .no_templates = true});
}

static void file(const char *path, struct bytes b) { all_ways(path, b.p, b.n); }

static void fixtures(void **state) {
  (void)state;
  each_fixture("json", long_run() ? 64 << 20 : 1000000, file);
  each_fixture("nasty", long_run() ? 64 << 20 : 1000000, file);
  assert_true(agree_count() > 500);
}

/* ---- events that make a chunk fall back ---- */

struct text {
  char *p;
  size_t n;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  t->n += (size_t)vsprintf(t->p + t->n, fmt, ap);
  va_end(ap);
}

enum special {
  NOTHING, NESTED, METADATA, DAMAGE, QUOTED, COUNTERS, FAR, ROUNDED, BOUND, NEW_STRINGS, NO_FLOW_ID, EMPTY, REPAIRED, LANES, SPECIALS
};

static const char *between = ","; /* "": one event per line */

/* Adds an event that chunks may have to leave to the sequential reader. Its contents depend on `kind` and i. */
static void special(struct text *t, enum special kind, unsigned i) {
  const char *const quote = i % 2 ? "\"" : "", *const other = i % 3 ? "\"" : "";
  add(t, "%s{", between);
  switch (kind) {
  case NESTED:
    add(t, "\"ph\":\"X\",\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1,\"args\":{\"a\":[{\"ph\":\"X\",\"name\":\"\"}", i);
    add(t, ",{\"ph\":\"X\",\"name\":\"},{\\\"ph\\\":\"},{\"ph\":\"X\",\"name\":\"q%u\"}]}", i % 9);
    break;
  case METADATA: add(t, "\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%u,\"args\":{\"name\":\"t%u\"}", i % 5, i); break;
  case DAMAGE: add(t, "\"ph\":\"X\",\"name\":\"n\",\"pid\":1 oh no %u", i); break;
  case QUOTED:
    add(t, "\"ph\":\"X\",\"name\":\"n\",\"pid\":%s8%s,\"tid\":%s%u%s,\"ts\":%u,\"dur\":1", other, other, quote, i / 8 % 11, quote, i);
    break;
  case COUNTERS:
    add(t, "\"ph\":\"C\",\"name\":\"c%u\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"args\":{\"v\":%u}", i / 10, i % 7, i, i);
    break;
  case FAR: add(t, "\"ph\":\"%s\",\"id\":5,\"pid\":1,\"tid\":1,\"ts\":%u000000000000,\"dur\":1", i % 2 ? "X" : "s", i + 100); break;
  case ROUNDED: add(t, "\"ph\":\"X\",\"name\":\"r\",\"pid\":1,\"tid\":1,\"ts\":%u.1234567891,\"dur\":1", i); break;
  case BOUND:
    add(t, "\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":%u,\"dur\":1,\"bind_id\":\"0x%x\"", i, i / 2);
    add(t, ",\"flow_%s\":true", i % 2 ? "in" : "out");
    break;
  case NEW_STRINGS:
    add(t, "\"ph\":\"X\",\"name\":\"new %u\",\"cat\":\"c%u\",\"pid\":1,\"tid\":%u,\"ts\":%u", i * 7 % 1000, i % 50, i % 90, i);
    add(t, ",\"dur\":1,\"args\":{\"k%u\":\"v %u\",\"x\":%u,\"j\":[%u],\"d\":1.5}", i % 30, i, i, i);
    break;
  case NO_FLOW_ID: add(t, "\"ph\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%u%s", i % 3 ? "t" : "b", i, i % 2 ? ",\"id\":\"a\"" : ""); break;
  case REPAIRED: add(t, "\"ph\":\"X\",\"name\":\"neg\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":-%u", i, i + 1); break;
  case LANES:
    add(t, "\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2000%u", i % 4);
    add(t, ",\"args\":{\"name\":\"x\",\"tracekit.lane_of\":%u}}\n", i % 3);
    add(t, ",{\"ph\":\"X\",\"pid\":1,\"tid\":2000%u,\"ts\":%u,\"dur\":3", i % 4, i);
    break;
  default: break;
  }
  add(t, "}\n");
}

/* Adds an event that every chunk can read by itself; with args unless `bare`. */
static void usual(struct text *t, unsigned i, bool bare) {
  add(t, "%s{\"ph\":\"X\",\"name\":\"n%u\",\"pid\":1,\"tid\":%u", between, i % 10, i % 4);
  add(t, ",\"ts\":%u,\"dur\":%u", i, i % 5);
  if (!bare) add(t, ",\"args\":{\"i\":%u}", i);
  add(t, "}\n");
  if (bare || i % 3) return;
  add(t, "%s{\"ph\":\"%c\",\"id\":%u,\"name\":\"f\",\"pid\":1", between, i % 2 ? 's' : 'f', i / 2);
  add(t, ",\"tid\":%u,\"ts\":%u,\"bp\":\"e\"}\n", i % 4, i);
}

static void craft(enum special kind, unsigned every, unsigned bare) {
  struct text t = {malloc(1 << 20), 0};
  char where[60];
  assert_non_null(t.p);
  snprintf(where, sizeof where, "special %d, every %u, %u without args%s", (int)kind, every, bare, *between ? "" : ", lines");
  if (*between) add(&t, "{\"traceEvents\":[");
  add(&t, "{\"ph\":\"i\"%s,\"name\":\"first\",\"pid\":1", bare ? "" : ",\"s\":\"t\"");
  add(&t, ",\"tid\":1,\"ts\":0}\n");
  for (unsigned i = 1; i < 400; i++) {
    usual(&t, i, i <= bare);
    if (i % every == 0) special(&t, kind, i);
  }
  if (*between) add(&t, "],\"displayTimeUnit\":\"ms\",\"more\":{\"traceEvents\":[]}}");
  all_ways(where, t.p, t.n);
  free(t.p);
}

/* Places special events of each kind between usual ones, some consecutive and some far apart. The first usual events have no args, so
 * that the first args of the file are read by chunks, and again after a fallback. */
static void crafted(void **state) {
  (void)state;
  for (enum special kind = NOTHING; kind < SPECIALS; kind++)
    for (unsigned every = 1; every <= 100; every = every * 3 + 1)
      for (unsigned bare = 0; bare <= 120; bare = bare * 2 + 30) craft(kind, every, bare);
}

static void crafted_lines(void **state) {
  between = "";
  crafted(state);
  between = ",";
}

/* Text truncated at any byte, and with any byte changed, so that damage is also at the borders of chunks. */
static void damaged(void **state) {
  (void)state;
  struct text t = {malloc(1 << 16), 0};
  assert_non_null(t.p);
  add(&t, "[{\"ph\":\"i\",\"name\":\"first\",\"pid\":1,\"tid\":1,\"ts\":0}\n");
  for (unsigned i = 1; i < 12; i++) {
    usual(&t, i, false);
    if (i % 5 == 0) special(&t, NESTED, i);
  }
  add(&t, "]");
  for (size_t n = 0; n <= t.n; n++) agree("cut", t.p, n, (struct feed){.threads = 2, .share = 90});
  for (size_t i = 0; i < t.n; i++) {
    const char was = t.p[i];
    for (const char *c = "\",{}[]\\ x"; *c; c++) {
      t.p[i] = *c;
      agree("another byte", t.p, t.n, (struct feed){.threads = 2, .share = 60 + i % 100});
    }
    t.p[i] = was;
  }
  free(t.p);
}

static void generated(void **state) {
  static const char *const options[] = {"--seed 1", "--seed 2 --no-base", "--seed 3 --lines", "--seed 4 --compact"};
  const char *gen = getenv("GEN");
  (void)state;
  if (!gen || !*gen) skip();
  for (size_t i = 0; i < LENGTH(options); i++) {
    char command[4096];
    static uint8_t text[8 << 20];
    snprintf(command, sizeof command, "'%s' kineto --spans %d %s", gen, long_run() ? 10000 : 1500, options[i]);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text, f);
    assert_int_equal(pclose(f), 0);
    assert_true(n > 10000 && n < sizeof text);
    all_ways(options[i], text, n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixtures), cmocka_unit_test(crafted),   cmocka_unit_test(crafted_lines),
      cmocka_unit_test(damaged),  cmocka_unit_test(generated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
