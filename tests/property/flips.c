/* flips.c - checks that a flipped bit in an XSpace loses at most the item that contains it.
 *
 * In each fixture a bit is flipped at 1,000 places, one at a time. Reading must never crash, and must yield a valid graph. A file may
 * be refused only if no event remains. In the median at most the damaged event is missing, and on average only a few. The surviving
 * events can be written as XPlane and read again without damage. */
#include "../unit/help.h"

#include "format/format.h"
#include "io/out.h"

enum { PLACES = 1000, LEAST_MEAN = 985 /* of a thousand events */ };

static uint64_t rng_state = 1;
static uint32_t rng(uint32_t n) {
  rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(rng_state >> 33) % n;
}

static int by_count(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static struct tk_trace *read_space(const uint8_t *p, size_t n, size_t chunk, struct tk_err *err) {
  return feed_bytes(p, n, (struct feed){.format = "xplane", .chunk = chunk}, err);
}

/* Checks that the output of a damaged trace is valid. */
static void write_again(const struct tk_trace *t, const char *where) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out out;
  size_t n;
  assert_true(out_memory(&out, NULL, &mem, &err));
  struct sink *s = format_xplane.writer(&out, &(struct sink_options){0});
  assert_non_null(s);
  bool ok = s->open(s, t, &err) && s->write(s, t, &err) && s->close(s, t, NULL, &err) && out_commit(&out, &err);
  if (!ok) fail_msg("%s: written: %s", where, err.msg);
  const uint8_t *p = out_memory_data(&out, &n);
  struct tk_trace *again = read_space(p, n, 0, &err);
  if (!again) fail_msg("%s: read again: %s", where, err.msg);
  if (again->n_events != t->n_events) fail_msg("%s: %u events, then %u", where, t->n_events, again->n_events);
  for (tk_id i = 1; i <= again->n_notes; i++)
    if (strstr(tk_string(again, again->notes[i].text, NULL), "damaged")) fail_msg("%s: damage is written", where);
  tk_free(again);
  s->free(s);
  out_close(&out);
  assert_int_equal(mem.used, sizeof(struct tk_trace) * 0);
}

static bool is_detected(const uint8_t *p, size_t n) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct in *in = in_memory(p, n, &mem, &err);
  assert_non_null(in);
  const struct format *f = format_detect(in, "trace", NULL, &err);
  in_close(in);
  return f == &format_xplane;
}

/* Returns the number of events kept with one bit of a byte flipped. */
static uint32_t flip(struct bytes b, size_t at, unsigned bit, unsigned nth, bool *detected) {
  struct tk_err err;
  char where[64];
  snprintf(where, sizeof where, "byte %zu, bit %u", at, bit);
  b.p[at] ^= (uint8_t)(1u << bit);
  *detected = is_detected(b.p, b.n);
  struct tk_trace *t = read_space(b.p, b.n, nth % 50 == 0 ? 1 + rng(5000) : 0, &err);
  b.p[at] ^= (uint8_t)(1u << bit);
  const uint32_t kept = t ? t->n_events : 0;
  if (!t && err.code != TK_ECORRUPT && err.code != TK_EFORMAT) fail_msg("%s: %s", where, err.msg);
  if (t && nth % 10 == 0) write_again(t, where);
  if (t) tk_free(t);
  return kept;
}

static void flip_file(const char *path, struct bytes b) {
  struct tk_err err;
  uint32_t kept[PLACES], undetected = 0;
  uint64_t sum = 0;
  if (!strstr(path, ".xplane.pb")) return;
  struct tk_trace *whole = read_space(b.p, b.n, 0, &err);
  assert_non_null(whole);
  for (unsigned i = 0; i < PLACES; i++) {
    bool detected;
    const size_t from = (size_t)((uint64_t)i * b.n / PLACES);
    const unsigned bit = rng(8);
    const size_t at = from + rng((uint32_t)(b.n / PLACES + 1)) % (b.n - from);
    kept[i] = flip(b, at, bit, i, &detected);
    undetected += !detected;
    sum += kept[i] < whole->n_events ? kept[i] : whole->n_events;
  }
  qsort(kept, PLACES, sizeof *kept, by_count);
  const double mean = (double)sum * 1000 / PLACES / whole->n_events;
  print_message("%s: of %u events %u in the median, %.1f%% on the average, %u at least; %u files of %d are not taken for XPlane\n",
                strrchr(path, '/') + 1, whole->n_events, kept[PLACES / 2], mean / 10, kept[0], undetected, PLACES);
  if (kept[PLACES / 2] + 1 < whole->n_events) fail_msg("%s: the median is %u of %u", path, kept[PLACES / 2], whole->n_events);
  if (mean < LEAST_MEAN && whole->n_events > 100) fail_msg("%s: %.1f%% on the average", path, mean / 10);
  if (kept[0] == 0 && whole->n_events > 100) fail_msg("%s: refused", path);
  if (undetected) fail_msg("%s: %u files are not taken for XPlane", path, undetected);
  tk_free(whole);
}

static void flips(void **state) {
  (void)state;
  each_fixture("xplane", long_run() ? 4 << 20 : 100000, flip_file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(flips)};
  return cmocka_run_group_tests_name("flips", tests, NULL, NULL);
}
