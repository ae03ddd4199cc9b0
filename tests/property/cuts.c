/* cuts.c - whatever happens to a file, reading it terminates with a valid graph or with an error that has a message.
 *
 * Each fixture of each format is read one byte at a time, which must give the same graph; truncated, which must not add
 * events; and with one bit flipped. With LONG=1, small files are truncated at every byte and large ones at 2,000 places, and
 * 1,000 bits of each are flipped; otherwise FEW of both. */
#include "../unit/help.h"

enum { SMALL = 24 << 10, LARGE = 3 << 20, FEW = 60, FLIPS = 1000, CUTS = 2000, SLOW = 200 << 10 };

static const char *format;
static uint64_t n_read, n_refused;
static uint64_t rng_state = 7;

static size_t rng(size_t n) {
  rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(rng_state >> 33) % n;
}

/* Returns the number of events that were kept; 0 if the input is refused. */
static uint32_t read_damaged(const char *path, const uint8_t *p, size_t n, const char *what, size_t at) {
  struct tk_err err = {0};
  struct tk_trace *t = feed_bytes(p, n, (struct feed){.format = format}, &err);
  uint32_t events = t ? t->n_events : 0;
  n_read++;
  n_refused += !t;
  if (!t && (!*err.msg || strstr(err.msg, "invariant"))) fail_msg("%s, %s at %zu: '%s'", path, what, at, err.msg);
  tk_free(t);
  return events;
}

static void cut(const char *path, struct bytes b, uint32_t events) {
  bool all = long_run() && b.n <= SMALL;
  size_t n = all ? b.n : long_run() ? CUTS : FEW;
  for (size_t i = 0; i < n; i++) {
    size_t at = all ? i : rng(b.n);
    uint32_t kept = read_damaged(path, b.p, at, "cut", at);
    if (kept > events) fail_msg("%s, cut at %zu: %u events of %u", path, at, kept, events);
  }
}

static void flip(const char *path, struct bytes b) {
  size_t n = long_run() ? FLIPS : FEW;
  for (size_t i = 0; i < n; i++) {
    size_t bit = rng(b.n * 8);
    b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
    read_damaged(path, b.p, b.n, "bit flipped", bit / 8);
    b.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
}

static void trickle(const char *path, struct bytes b) {
  static const size_t CHUNKS[] = {1, 3, 4096};
  char *whole = dump_fed(b.p, b.n, (struct feed){.format = format});
  for (size_t i = 0; i < LENGTH(CHUNKS); i++) {
    if (CHUNKS[i] < 4096 && b.n > SLOW && !long_run()) continue;
    char *parts = dump_fed(b.p, b.n, (struct feed){.format = format, .chunk = CHUNKS[i]});
    if (strcmp(whole, parts) != 0) fail_msg("%s: another graph from %zu bytes at a time", path, CHUNKS[i]);
    free(parts);
  }
  free(whole);
}

static void one(const char *path, struct bytes b) {
  struct tk_err err = {0};
  if (b.n == 0) return;
  struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){.format = format}, &err);
  if (!t) return;
  uint32_t events = t->n_events;
  tk_free(t);
  trickle(path, b);
  cut(path, b, events);
  flip(path, b);
}

static void of_format(const char *name, const char *folder) {
  format = name;
  n_read = n_refused = 0;
  each_fixture(folder, LARGE, one);
  each_fixture("nasty", LARGE, one); /* fixtures that this format reads */
  each_fixture("hostile", LARGE, one);
  print_message("%s: %llu damaged inputs, of which %llu were refused\n", name, (unsigned long long)n_read,
                (unsigned long long)n_refused);
  assert_true(n_read > 0);
  assert_true(n_refused < n_read);
}

static void json_is_damaged(void **state) { (void)state, of_format("json", "json"); }
static void xplane_is_damaged(void **state) { (void)state, of_format("xplane", "xplane"); }
static void perfetto_is_damaged(void **state) { (void)state, of_format("perfetto", "perfetto"); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(json_is_damaged), cmocka_unit_test(xplane_is_damaged),
                                     cmocka_unit_test(perfetto_is_damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
