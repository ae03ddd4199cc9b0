/* test_trace.c - building a graph: equal items get one id, items without memory get slot 0, notes are counted. */
#include "help.h"
#include "graph/args.h"

static void strings(void **state) {
  struct tk_trace *t = trace_new(0);
  size_t n;
  (void)state;
  tk_id a = trace_text(t, "a"), nul = trace_string(t, "x\0y", 3);
  assert_int_equal(trace_string(t, "a", 1), a);
  assert_string_equal(tk_string(t, KEY_ID, &n), "json.id");
  assert_int_equal(n, 7);
  assert_string_equal(tk_string(t, KEY_EMPTY, &n), "");
  assert_memory_equal(tk_string(t, nul, &n), "x\0y", 4);
  assert_int_equal(n, 3);
  assert_string_equal(tk_string(t, 0, &n), "");
  assert_int_equal(n, 0);
  assert_string_equal(tk_string(t, 123456789, NULL), "");
  tk_free(t);
  tk_free(NULL);
}

static void classes(void **state) {
  struct tk_trace *t = trace_new(0);
  (void)state;
  tk_id a = trace_text(t, "a"), b = trace_text(t, "b"), ab = trace_class(t, a, b);
  assert_int_equal(trace_class(t, a, b), ab);
  assert_int_not_equal(trace_class(t, b, a), ab);
  assert_int_not_equal(trace_class(t, a, 0), trace_class(t, a, KEY_EMPTY)); /* missing differs from empty */
  assert_int_equal(t->classes[ab].name, a);
  assert_int_equal(t->classes[ab].cat, b);
  tk_free(t);
}

static void identities(void **state) {
  struct tk_trace *t = trace_new(0);
  struct tk_ident i7 = ident_int(7), q7 = {7, 0, TK_IDENT_QUOTED}, s7 = ident_str(trace_text(t, "7x")), none = ident_none(),
                  zero = ident_int(0);
  struct tk_ident all[] = {i7, q7, s7, none, zero};
  (void)state;
  for (size_t i = 0; i < LENGTH(all); i++)
    for (size_t k = 0; k < LENGTH(all); k++) assert_int_equal(trace_ident_equal(all[i], all[k]), i == k || (i < 2 && k < 2));
  tk_id process = trace_process(t, i7);
  assert_int_equal(trace_process(t, q7), process);
  assert_int_not_equal(trace_process(t, s7), process);
  assert_int_not_equal(trace_process(t, none), trace_process(t, zero));
  tk_id thread = trace_track(t, TK_TRACK_THREAD, i7, i7, 0);
  assert_int_equal(trace_track(t, TK_TRACK_THREAD, q7, q7, 0), thread);
  assert_int_equal(t->tracks[thread].parent, process);
  assert_int_not_equal(trace_track(t, TK_TRACK_ASYNCS, i7, i7, 0), thread);
  assert_int_not_equal(trace_track(t, TK_TRACK_THREAD, i7, none, 0), thread);
  tk_id a = trace_text(t, "a"), b = trace_text(t, "b");
  assert_int_equal(trace_track(t, TK_TRACK_COUNTERS, i7, none, a), trace_track(t, TK_TRACK_COUNTERS, i7, none, a));
  assert_int_not_equal(trace_track(t, TK_TRACK_COUNTERS, i7, none, a), trace_track(t, TK_TRACK_COUNTERS, i7, none, b));
  t->tracks[thread].name = a; /* a name does not make a new thread */
  assert_int_equal(trace_track(t, TK_TRACK_THREAD, i7, i7, 0), thread);
  tk_free(t);
}

static void many_tracks(void **state) {
  struct tk_trace *t = trace_new(0);
  (void)state;
  for (int64_t i = 0; i < 20000; i++) assert_int_equal(trace_process(t, ident_int(i << 20)), i + 1);
  for (int64_t i = 0; i < 20000; i++) assert_int_equal(trace_process(t, ident_int(i << 20)), i + 1);
  assert_int_equal(t->n_tracks, 20000);
  tk_free(t);
}

static void notes(void **state) {
  struct tk_trace *t = trace_new(0);
  char text[32];
  (void)state;
  trace_note(t, TK_NOTE_REPAIR, 50, "a");
  trace_note(t, TK_NOTE_REPAIR, 20, "a");
  trace_note(t, TK_NOTE_REPAIR, 90, "a");
  trace_note(t, TK_NOTE_INFO, UINT64_MAX, "a");
  assert_int_equal(t->n_notes, 2);
  assert_int_equal(t->notes[1].count, 3);
  assert_int_equal(t->notes[1].offset, 20);
  assert_int_equal(t->notes[2].offset, UINT64_MAX);
  for (int i = 0; i < 5000; i++) { /* hostile input cannot fill memory with notes */
    snprintf(text, sizeof text, "kind %d", i);
    trace_note(t, TK_NOTE_REPAIR, 0, text);
  }
  assert_true(t->n_notes < 1000);
  uint64_t count = 0;
  for (tk_id i = 1; i <= t->n_notes; i++) count += t->notes[i].count;
  assert_int_equal(count, 5004);
  tk_free(t);
}

static void fill(struct tk_trace *t, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    char text[32];
    snprintf(text, sizeof text, "name %u", i);
    tk_id name = trace_text(t, text), cls = trace_class(t, name, 0);
    args_begin(t);
    args_int(t, name, i);
    args_str(t, KEY_ID, TK_ARG_STR, name);
    uint32_t args = args_end(t);
    tk_id track = trace_track(t, TK_TRACK_THREAD, ident_int(i % 7), ident_int(i), 0);
    *trace_add_event(t) = (struct tk_event){.ts = i, .dur = 1, .cls = cls, .track = track, .args = args};
    struct tk_flow_point *f = trace_add_flow_point(t);
    f->cls = cls, f->at = track, f->ts = i;
    trace_add_record(t)->track = track;
    trace_add_meta(t)->key = name;
    trace_note(t, TK_NOTE_INFO, i, text);
  }
}

/* Any memory limit, at any point, gives the same error and no crash. */
static void out_of_memory(void **state) {
  struct tk_trace *whole = trace_new(0);
  (void)state;
  fill(whole, 2000);
  assert_true(mem_check(&whole->store->mem, NULL));
  uint64_t peak = whole->store->mem.peak;
  tk_free(whole);
  for (uint64_t limit = 1; limit < peak; limit += limit < 20000 ? 509 : peak / 97) {
    struct tk_trace *t = trace_new(limit);
    struct tk_err err = {0};
    if (!t) continue;
    fill(t, 2000);
    assert_false(seal(t, 1, &err));
    assert_int_equal(err.code, TK_ELIMIT);
    assert_true(t->store->mem.peak <= limit);
    tk_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(strings),     cmocka_unit_test(classes), cmocka_unit_test(identities),
    cmocka_unit_test(many_tracks), cmocka_unit_test(notes),   cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
