/* test_xplane_chunks.c - an XPlane file read by several threads gives the same trace, id by id and byte by byte, wherever its
 * lines are split: all fixtures, generated traces, lines with events that only the sequential reader handles, and damage. */
#include "agree.h"
#include "base/err.h"
#include "format/pb_out.h"
#include "format/xplane/fields.h"

static void all_ways(const char *where, const void *p, size_t n) {
  static const size_t shares[] = {40, 100, 700, 5000, 60000};
  for (size_t i = 0; i < LENGTH(shares); i++)
    if (i == 0 || shares[i] < n)
      agree(where, p, n, (struct feed){.format = "xplane", .threads = 2 + (unsigned)i % 3, .share = shares[i]});
  agree(where, p, n, (struct feed){.format = "xplane", .threads = 3, .share = 200, .chunk = 77});
}

static void file(const char *path, struct bytes b) { all_ways(path, b.p, b.n); }

static void fixtures(void **state) {
  (void)state;
  each_fixture("xplane", long_run() ? 64 << 20 : 2000000, file);
  each_fixture("nasty", long_run() ? 64 << 20 : 200000, file);
  assert_true(agree_count() > 500);
}

/* ---- crafted lines ---- */

enum special {
  NOTHING, NEW_CLASS, NEW_STAT, NEW_REF, NEW_TEXT, NO_TEXT, BYTES, TWICE, AGGREGATED, NEGATIVE, BEFORE, FAR, ODD, UNKNOWN_FIELD, ENTRY,
  SPECIALS
};

struct making {
  struct mem mem;
  struct buf space, plane, line, event, stat;
};

static void add_stat(struct making *m, int64_t id, uint32_t field, const char *text, uint64_t value) {
  m->stat.len = 0;
  pb_u64(&m->stat, XSTAT_METADATA_ID, (uint64_t)id);
  if (text) pb_bytes(&m->stat, field, text, strlen(text));
  else pb_u64(&m->stat, field, value);
  pb_message(&m->event, XEVENT_STATS, &m->stat);
}

static void begin_event(struct making *m, uint64_t id, uint64_t at, uint64_t lasts) {
  m->event.len = 0;
  pb_u64(&m->event, XEVENT_METADATA_ID, id);
  pb_u64(&m->event, XEVENT_OFFSET_PS, at);
  pb_u64(&m->event, XEVENT_DURATION_PS, lasts);
}

static void end_event(struct making *m) { pb_message(&m->line, XLINE_EVENTS, &m->event); }

/* Adds an event that chunks may have to leave to the sequential reader. Its contents depend on `kind` and i. */
static void special(struct making *m, enum special kind, unsigned i) {
  char text[32];
  const uint64_t at = 1000 * (uint64_t)i;
  begin_event(m, 1 + i % 3, kind == FAR ? (uint64_t)1 << 62 : kind == BEFORE ? (uint64_t)-5 : at, kind == NEGATIVE ? (uint64_t)-1 : 7);
  snprintf(text, sizeof text, "text %u", i);
  switch (kind) {
  case NEW_CLASS: begin_event(m, 1000 + i * 7 % 50, at, 7); break;
  case NEW_STAT: add_stat(m, 100 + i * 5 % 40, XSTAT_INT64, NULL, i); break;
  case NEW_REF: add_stat(m, 3, XSTAT_REF, NULL, 500 + i * 3 % 60); break;
  case NEW_TEXT: add_stat(m, 2, XSTAT_STR, text, 0); break;
  case NO_TEXT: add_stat(m, 2, XSTAT_STR, "\xff\xfe", 0); break;
  case BYTES: add_stat(m, 4, XSTAT_BYTES, i % 2 ? "\xff" : text, 0); break;
  case TWICE:
    for (unsigned k = 0; k < 2 + i % 2; k++) add_stat(m, 1, XSTAT_INT64, NULL, i + k);
    break;
  case AGGREGATED: pb_u64(&m->event, XEVENT_NUM_OCCURRENCES, i); break;
  case ODD: pb_bytes(&m->event, XEVENT_OFFSET_PS, text, 3); break;
  case UNKNOWN_FIELD: pb_bytes(&m->event, 77, text, 3); break;
  case ENTRY: m->event.len = 0, pb_u64(&m->event, 1, 9), pb_bytes(&m->event, 2, "\x08\x09\x12\x03two-and-more", 12); break;
  default: break;
  }
  end_event(m);
}

/* Adds an event that every chunk can read by itself; without stats if `bare`. */
static void usual(struct making *m, unsigned i, bool bare) {
  static const char *const texts[] = {"one", "two", "three"};
  begin_event(m, 1 + i % 3, 1000 * (uint64_t)i, 10 + i % 300);
  if (!bare) add_stat(m, 1, XSTAT_INT64, NULL, i);
  if (!bare && i % 3 == 0) add_stat(m, 2, XSTAT_STR, texts[i / 3 % 3], 0);
  if (!bare && i % 3 == 1) add_stat(m, 3, XSTAT_REF, NULL, 200 + i % 2);
  end_event(m);
}

static void name(struct making *m, uint32_t field, uint64_t id, const char *text) {
  m->event.len = m->stat.len = 0;
  pb_u64(&m->stat, 1, id);
  pb_bytes(&m->stat, 2, text, strlen(text));
  pb_u64(&m->event, 1, id);
  pb_message(&m->event, 2, &m->stat);
  pb_message(&m->plane, field, &m->event);
}

static void end_space(struct making *m) {
  char text[32];
  pb_u64(&m->line, XLINE_TIMESTAMP_NS, 1700000000000000000);
  pb_message(&m->plane, XPLANE_LINES, &m->line);
  for (unsigned i = 1; i < 4; i++) snprintf(text, sizeof text, "event %u", i), name(m, XPLANE_EVENT_METADATA, i, text);
  for (unsigned i = 1; i < 5; i++) snprintf(text, sizeof text, "stat %u", i), name(m, XPLANE_STAT_METADATA, i, text);
  for (unsigned i = 0; i < 2; i++) snprintf(text, sizeof text, "ref %u", i), name(m, XPLANE_STAT_METADATA, 200 + i, text);
  for (unsigned i = 0; i < 30; i++) snprintf(text, sizeof text, "late %u", i), name(m, XPLANE_STAT_METADATA, 500 + i, text);
  pb_message(&m->space, XSPACE_PLANES, &m->plane);
}

static void begin_space(struct making *m) {
  *m = (struct making){0};
  m->space.mem = m->plane.mem = m->line.mem = m->event.mem = m->stat.mem = &m->mem;
  pb_u64(&m->plane, XPLANE_ID, 1);
  pb_bytes(&m->plane, XPLANE_NAME, "/host:CPU", 9);
  pb_bytes(&m->line, XLINE_NAME, "main", 4);
}

static void free_space(struct making *m) {
  struct buf *all[] = {&m->space, &m->plane, &m->line, &m->event, &m->stat};
  for (size_t i = 0; i < LENGTH(all); i++) buf_free(all[i]);
}

static void craft(enum special kind, unsigned every, unsigned bare) {
  struct making m;
  char where[60];
  begin_space(&m);
  snprintf(where, sizeof where, "special %d, every %u, %u without args", (int)kind, every, bare);
  for (unsigned i = 0; i < 400; i++) {
    usual(&m, i, i < bare);
    if (i % every == 0) special(&m, kind, i);
  }
  end_space(&m);
  all_ways(where, m.space.data, m.space.len);
  free_space(&m);
}

static void crafted(void **state) {
  (void)state;
  for (enum special kind = NOTHING; kind < SPECIALS; kind++)
    for (unsigned every = 1; every <= 100; every = every * 3 + 1)
      for (unsigned bare = 0; bare <= 120; bare = bare * 2 + 30) craft(kind, every, bare);
}

/* The file truncated at any byte, and with any byte changed. */
static void damaged(void **state) {
  static const uint8_t others[] = {0, 1, 0x08, 0x0a, 0x12, 0x22, 0x7f, 0x80, 0xff};
  struct making m;
  (void)state;
  begin_space(&m);
  for (unsigned i = 0; i < 30; i++) usual(&m, i, i < 3);
  end_space(&m);
  uint8_t *p = m.space.data;
  for (size_t n = 0; n <= m.space.len; n++) agree("cut", p, n, (struct feed){.format = "xplane", .threads = 2, .share = 60});
  for (size_t i = 0; i < m.space.len; i++) {
    const uint8_t was = p[i];
    for (size_t k = 0; k < LENGTH(others); k++) {
      p[i] = others[k];
      agree("another byte", p, m.space.len, (struct feed){.format = "xplane", .threads = 2, .share = 40 + i % 100});
    }
    p[i] = was;
  }
  free_space(&m);
}

static void generated(void **state) {
  const char *gen = getenv("GEN");
  (void)state;
  if (!gen || !*gen) skip();
  for (int seed = 1; seed < 4; seed++) {
    char command[4096];
    static uint8_t bytes[8 << 20];
    snprintf(command, sizeof command, "'%s' xplane --spans %d --seed %d", gen, long_run() ? 30000 : 3000, seed);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    assert_int_equal(pclose(f), 0);
    assert_true(n > 10000 && n < sizeof bytes);
    all_ways(command, bytes, n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixtures), cmocka_unit_test(crafted), cmocka_unit_test(damaged), cmocka_unit_test(generated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
