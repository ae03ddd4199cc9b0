/* test_part.c - ranks of one file give the same graphs when they are loaded together as one by one, and use no more memory than
 * allowed. */
#include "help.h"

#include <unistd.h>

#include "load/load.h"
#include "merge/alignment.h"
#include "source/identity.h"
#include "source/sources_kept.h"
#include "source/sources_parts.h"

static char dir[] = "/tmp/tracekit-part-XXXXXX";
static char report[64], other[64];

/* Makes a folder with the report of two processes and a file that is not a trace, which causes a note. */
static int make_dir(void **state) {
  const struct bytes b = read_whole("fixtures/nsys/two-processes.sqlite");
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(report, sizeof report, "%s/node.sqlite", dir);
  snprintf(other, sizeof other, "%s/README.txt", dir);
  FILE *f = fopen(report, "wb"), *g = fopen(other, "wb");
  const bool ok = f && g && fwrite(b.p, 1, b.n, f) == b.n && fputs("no trace", g) >= 0;
  fclose(f);
  fclose(g);
  free(b.p);
  return ok ? 0 : -1;
}

static int remove_dir(void **state) {
  (void)state;
  unlink(report);
  unlink(other);
  return rmdir(dir);
}

static struct tk_sources *open_dir(void) {
  const char *names[] = {dir};
  struct tk_err err = TK_ERR_INIT;
  struct tk_sources *s = tk_sources_open(names, 1, &(struct tk_source_options){.by_rank = true}, &err);
  assert_non_null(s);
  assert_int_equal(s->n, 2);
  assert_int_equal(sources_ranks_from(s, 0), 2);
  assert_int_equal(sources_ranks_from(s, 1), 1);
  return s;
}

static void check_equal(const struct tk_trace *t, const struct tk_trace *want) {
  char *a = dump_of(t), *b = dump_of(want);
  assert_string_equal(a, b);
  free(a);
  free(b);
  assert_int_equal(t->n_notes, want->n_notes);
  for (tk_id i = 1; i <= t->n_notes; i++)
    assert_string_equal(tk_string(t, t->notes[i].text, NULL), tk_string(want, want->notes[i].text, NULL));
  const struct identity x = identity_of(t), y = identity_of(want);
  assert_int_equal(x.rank, y.rank);
  assert_string_equal(x.rank_from, y.rank_from);
  assert_string_equal(x.host, y.host);
  assert_string_equal(t->files[0], want->files[0]);
}

static void equals_ranks_alone(void **state) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_sources *s = open_dir();
  struct tk_trace *second = NULL, *alone[2];
  struct tk_trace *first = load_ranks(s, 0, &(struct load_ranks){&second, 1, UINT64_MAX}, NULL, &err);
  (void)state;
  assert_non_null(first);
  assert_non_null(second);
  for (size_t i = 0; i < 2; i++) assert_non_null(alone[i] = tk_sources_load(s, i, NULL, &err));
  assert_true(first->n_notes > second->n_notes); /* the file that is not a trace is reported once */
  check_equal(first, alone[0]);
  check_equal(second, alone[1]);
  tk_free(first); /* the second rank shares nothing with it */
  check_equal(second, alone[1]);
  tk_free(second);
  for (size_t i = 0; i < 2; i++) tk_free(alone[i]);
  tk_sources_close(s);
}

static void respects_room(void **state) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_sources *s = open_dir();
  struct tk_trace *second = NULL;
  struct tk_trace *first = load_ranks(s, 0, &(struct load_ranks){&second, 1, 1000}, NULL, &err);
  (void)state;
  assert_non_null(first);
  assert_null(second);
  tk_free(first);
  tk_sources_close(s);
}

/* A merge reads the file when it asks for the first rank; the second one is then ready. */
static void merges_read_once(void **state) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_sources *s = open_dir();
  struct merge_alignment a = {.n = 0};
  const struct tk_load_options opt = {.max_memory = 1 << 30};
  const struct merge_inputs in = {.sources = s, .n = s->n};
  (void)state;
  assert_true(merge_alignment_init(&a, &a.mem, s->n));
  struct tk_trace *first = merge_load(&a, &in, 0, &opt, &err), *second = a.ready[1];
  assert_non_null(first);
  assert_non_null(second);
  assert_int_equal(a.kept_bytes, second->store->mem.used);
  assert_ptr_equal(merge_load(&a, &in, 1, &opt, &err), second);
  assert_int_equal(a.kept_bytes, 0);
  a.skipped[1] = true; /* a rank that is not selected is not loaded ahead */
  struct tk_trace *again = merge_load(&a, &in, 0, &opt, &err);
  assert_null(a.ready[1]);
  tk_free(first);
  tk_free(second);
  tk_free(again);
  merge_alignment_free(&a);
  tk_sources_close(s);
}

/* A caller who loads all inputs in order reads the file once. Ranks that the caller never asks for are freed with the sources. */
static void keeps_next_ranks(void **state) {
  const struct tk_load_options opt = {.max_memory = 1 << 30, .with = TK_WITH_NEXT_RANKS};
  const struct tk_load_options little = {.max_memory = 2 << 20, .with = TK_WITH_NEXT_RANKS};
  struct tk_err err = TK_ERR_INIT;
  struct tk_sources *s = open_dir();
  (void)state;
  struct tk_trace *alone = tk_sources_load(s, 1, NULL, &err), *first = tk_sources_load(s, 0, &opt, &err);
  struct tk_trace *const kept = sources_kept(s)[1];
  assert_non_null(alone);
  assert_non_null(first);
  assert_non_null(kept);
  assert_int_equal(sources_kept_bytes(s), kept->store->mem.used);
  struct tk_trace *again = tk_sources_load(s, 0, &opt, &err);
  assert_ptr_equal(sources_kept(s)[1], kept);
  struct tk_trace *second = tk_sources_load(s, 1, &opt, &err);
  assert_ptr_equal(second, kept);
  assert_int_equal(sources_kept_bytes(s), 0);
  check_equal(again, first);
  check_equal(second, alone);
  tk_free(again);
  again = tk_sources_load(s, 0, &little, &err); /* the second rank is too large to be kept with this memory limit */
  assert_non_null(again);
  assert_null(sources_kept(s)[1]);
  tk_free(again);
  again = tk_sources_load(s, 0, &opt, &err);
  assert_non_null(sources_kept(s)[1]);
  tk_free(again);
  tk_free(first);
  tk_free(second);
  tk_free(alone);
  tk_sources_close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equals_ranks_alone), cmocka_unit_test(respects_room),
                                     cmocka_unit_test(merges_read_once), cmocka_unit_test(keeps_next_ranks)};
  return cmocka_run_group_tests_name("part", tests, make_dir, remove_dir);
}
