/* test_stack.c - stack samples: frames, stacks and classes are stored once, weights keep their digits, invalid calls are refused, and
 * copies, parts and joined graphs keep the stacks. */
#include "help.h"

#include "graph/join.h"
#include "graph/stack.h"
#include "graph/subset.h"

static const tk_time US = 1000000;

static tk_id named(struct tk_trace *t, const char *name, uint32_t line) {
  const struct tk_frame f = {.name = tk_add_text(t, name), .file = tk_add_text(t, "a.c"), .line = line};
  return tk_add_frame(t, &f);
}

/* Adds a sample to the thread, which is track 2. */
static tk_id sample(struct tk_trace *t, tk_time ts, tk_id stack, int64_t weight, int32_t exp) {
  const struct tk_sample s = {.ts = ts, .track = 2, .stack = stack, .unit = tk_add_text(t, "ns"), .weight = weight, .exp = exp};
  return tk_add_sample(t, &s);
}

/* Makes a trace with a span and three samples of two stacks on one thread. */
static struct tk_trace *made(const char *prefix) {
  struct tk_err err;
  struct tk_trace *t = tk_new(&(struct tk_new_options){.source = "made", .origin_ns = 1700000000000000000}, &err);
  assert_non_null(t);
  tk_add_text(t, prefix); /* so that ids of strings differ between traces */
  const tk_id process = tk_add_process(t, tk_ident_int(1)), thread = tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_int(2), 0);
  const tk_id outer = tk_add_stack(t, 0, named(t, "main", 1)), inner = tk_add_stack(t, outer, named(t, "load", 9));
  assert_true(sample(t, 2 * US, inner, 5, 0) && sample(t, 3 * US, outer, 15, -1));
  assert_true(sample(t, 9 * US, inner, 5, 0));
  const struct tk_event span = {.ts = US, .dur = 4 * US, .cls = tk_add_class(t, tk_add_text(t, "span"), 0, 0), .track = thread};
  assert_true(tk_add_event(t, &span));
  if (!tk_seal(t, &err)) fail_msg("%s", err.msg);
  if (!tk_check(t, &err)) fail_msg("%s", err.msg);
  return t;
}

static void expect_dump(const struct tk_trace *t, const char *const *lines) {
  char *text = tk_dump(t);
  assert_non_null(text);
  for (; *lines; lines++)
    if (!strstr(text, *lines)) fail_msg("'%s' is not in\n%s", *lines, text);
  tk_free_text(text);
}

static const char *const LINES[] = {"1 sample 2000000 \"load\" unit=\"ns\" at \"a.c\":9 < \"main\" \"a.c\":1 {tracekit.weight=5}",
                                    "1 sample 3000000 \"main\" unit=\"ns\" at \"a.c\":1 {tracekit.weight=1.5}",
                                    "0 sample 9000000 \"load\" unit=\"ns\" at \"a.c\":9 < \"main\" \"a.c\":1 {tracekit.weight=5}",
                                    NULL};

static void stores_once(void **state) {
  struct tk_trace *t = made("x");
  struct tk_summary s;
  int32_t exp;
  (void)state;
  assert_int_equal(t->n_frames, 2);
  assert_int_equal(t->n_stacks, 2);
  assert_int_equal(t->n_classes, 3);
  expect_dump(t, LINES);
  assert_true(tk_summarise(t, &s, NULL));
  assert_int_equal(s.samples, 3);
  assert_int_equal(s.spans, 1);
  assert_int_equal(tk_sample_weight(t, &t->events[3], &exp), 15);
  assert_int_equal(exp, -1);
  assert_true(stack_amount(t, &t->events[3]) == 1500);
  tk_free(t);
}

static void copies(void **state) {
  struct tk_trace *t = made("x"), *copy = tk_copy(t, NULL);
  struct tk_err err;
  (void)state;
  tk_free(t);
  assert_non_null(copy);
  if (!tk_check(copy, &err)) fail_msg("%s", err.msg);
  expect_dump(copy, LINES);
  tk_free(copy);
}

static void joins(void **state) {
  struct tk_trace *a = made("x"), *b = made("other"), *to = trace_new(0);
  struct join_ids ids = {NULL};
  struct tk_err err = TK_ERR_INIT;
  (void)state;
  to->sealed = true;
  assert_true(join_graph(to, a, &ids, &err));
  join_ids_free(&ids, to);
  assert_true(join_graph(to, b, &ids, &err));
  join_ids_free(&ids, to);
  assert_true(join_finish(to, &err));
  assert_int_equal(to->n_frames, 2);
  assert_int_equal(to->n_stacks, 2);
  if (!tk_check(to, &err)) fail_msg("%s", err.msg);
  expect_dump(to, LINES);
  tk_free(a);
  tk_free(b);
  tk_free(to);
}

/* When writing a format without samples, all other events are written, and the samples are counted as lost. */
static void leaves_out(void **state) {
  struct tk_trace *t = made("x");
  struct tk_saved saved;
  struct tk_bytes bytes;
  struct tk_err err;
  (void)state;
  if (!tk_save_memory(t, "x.xplane.pb", &bytes, NULL, &saved, &err)) fail_msg("%s", err.msg);
  assert_int_equal(saved.events, 1);
  assert_int_equal(saved.lost[TK_LOSS_SAMPLES], 3);
  assert_int_equal(saved.lost[TK_LOSS_ARGS], 0);
  free((void *)(uintptr_t)bytes.p);
  tk_free(t);
}

static void refuses(void **state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    struct tk_err err;
    struct tk_trace *t = tk_new(NULL, &err);
    const tk_id process = tk_add_process(t, tk_ident_int(1)), thread = tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_int(2), 0);
    const tk_id stack = tk_add_stack(t, 0, named(t, "f", 1));
    struct tk_sample s = {.track = thread, .stack = stack, .unit = tk_add_text(t, "ns")};
    const struct tk_frame nothing = {.line = 3};
    if (i == 0) s.track = process;
    if (i == 1) s.stack = 9;
    if (i == 2) s.unit = 0;
    if (i == 3) s.exp = 100;
    if (i < 4) assert_int_equal(tk_add_sample(t, &s), 0);
    if (i == 4) assert_int_equal(tk_add_stack(t, 0, 7), 0);
    if (i == 5) assert_int_equal(tk_add_frame(t, &nothing), 0);
    assert_false(tk_seal(t, &err));
    assert_int_equal(err.code, TK_EUSAGE);
    tk_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stores_once), cmocka_unit_test(copies), cmocka_unit_test(joins),
                                     cmocka_unit_test(leaves_out), cmocka_unit_test(refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
