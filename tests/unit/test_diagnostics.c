/* test_diagnostics.c - notes outside of a trace (tk_diagnostics): they are counted as in a trace, and contain their texts. */
#include "help.h"

#include "graph/diagnostics.h"

static void require(const struct tk_diagnostic *d, enum tk_note_kind kind, uint64_t count, uint64_t offset, const char *text,
                    const char *source) {
  assert_int_equal(d->kind, kind);
  assert_int_equal(d->count, count);
  assert_int_equal(d->offset, offset);
  assert_string_equal(d->text, text);
  if (source) assert_string_equal(d->source, source);
  else assert_null(d->source);
}

/* Diagnostics outlive their trace. */
static void test_of_a_trace(void **state) {
  struct tk_trace *t = trace_new(0);
  (void)state;
  trace_note(t, TK_NOTE_REPAIR, 50, "a");
  trace_note(t, TK_NOTE_REPAIR, 20, "a");
  trace_note(t, TK_NOTE_FACT, UINT64_MAX, "b");
  trace_note_of(t, "rank1.json", &(struct tk_note){.count = 7, .offset = 3}, "a");
  struct tk_diagnostics *d = tk_trace_diagnostics(t);
  tk_free(t);
  assert_int_equal(d->n, 3);
  require(&d->list[0], TK_NOTE_REPAIR, 2, 20, "a", NULL);
  require(&d->list[1], TK_NOTE_FACT, 1, UINT64_MAX, "b", NULL);
  require(&d->list[2], TK_NOTE_INFO, 7, 3, "a", "rank1.json");
  assert_ptr_equal(d->list[0].text, d->list[2].text);
  tk_diagnostics_free(d);
  tk_diagnostics_free(NULL);
}

static void test_of_several(void **state) {
  struct tk_diagnostics *d = diagnostics_new(), *all = diagnostics_new();
  struct tk_trace *t = trace_new(0), *to = trace_new(0);
  (void)state;
  trace_note(t, TK_NOTE_REPAIR, 5, "wrong byte");
  diagnostics_say(d, "x", TK_NOTE_INFO, "left out");
  diagnostics_say(d, "", TK_NOTE_INFO, "left out");
  diagnostics_add_notes(d, t, "y");
  diagnostics_add_notes(d, t, "y");
  diagnostics_say_left_out(d, "z", "z: no such file");
  diagnostics_add(all, d);
  diagnostics_add(all, NULL);
  assert_int_equal(all->n, 4);
  require(&all->list[0], TK_NOTE_INFO, 1, UINT64_MAX, "left out", "x");
  require(&all->list[1], TK_NOTE_INFO, 1, UINT64_MAX, "left out", NULL);
  require(&all->list[2], TK_NOTE_REPAIR, 2, 5, "wrong byte", "y");
  require(&all->list[3], TK_NOTE_INFO, 1, UINT64_MAX, "left out: no such file", "z");
  diagnostics_give(all, to);
  struct tk_diagnostics *given = tk_trace_diagnostics(to);
  assert_int_equal(given->n, all->n);
  for (size_t i = 0; i < all->n; i++) {
    const struct tk_diagnostic *said = &all->list[i];
    require(&given->list[i], said->kind, said->count, said->offset, said->text, said->source);
  }
  tk_diagnostics_free(given);
  tk_diagnostics_free(all);
  tk_diagnostics_free(d);
  tk_free(t);
  tk_free(to);
}

/* The number of notes without an input is limited, so that hostile input cannot fill memory. Notes about many inputs are all kept. */
static void test_many(void **state) {
  struct tk_diagnostics *d = diagnostics_new();
  uint64_t count = 0;
  char text[32];
  (void)state;
  for (int i = 0; i < 5000; i++) {
    snprintf(text, sizeof text, "kind %d", i);
    diagnostics_say(d, NULL, TK_NOTE_REPAIR, text);
  }
  assert_true(d->n < 1000);
  for (size_t i = 0; i < d->n; i++) count += d->list[i].count;
  assert_int_equal(count, 5000);
  for (int i = 0; i < 5000; i++) {
    snprintf(text, sizeof text, "input %d", i);
    diagnostics_say(d, text, TK_NOTE_INFO, "the same");
  }
  assert_true(d->n >= 5000);
  assert_ptr_equal(d->list[d->n - 1].text, d->list[d->n - 5000].text);
  tk_diagnostics_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_a_trace), cmocka_unit_test(test_of_several), cmocka_unit_test(test_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
