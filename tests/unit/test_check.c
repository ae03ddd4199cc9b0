/* test_check.c - violates each invariant of check.c on purpose; the check must detect it, because other tests rely on the
 * check. */
#include "help.h"
#include "graph/args.h"

static const char text[] =
    "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":10,\"name\":\"a\",\"args\":{\"x\":1,\"s\":\"t\"}},"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":2,\"dur\":4,\"name\":\"b\"},{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":3,\"dur\":1,"
    "\"name\":\"c\"},"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":7,\"ts\":8,\"name\":\"d\"},{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"n\",\"args\":{"
    "\"v\":1}},"
    "{\"ph\":\"s\",\"pid\":1,\"tid\":7,\"ts\":1,\"id\":1,\"name\":\"f\",\"cat\":\"c\"},"
    "{\"ph\":\"f\",\"pid\":1,\"tid\":7,\"ts\":3,\"id\":1,\"name\":\"f\",\"cat\":\"c\",\"bp\":\"e\"}]}";

/* The functions below each violate one invariant of the trace read from `text`. Tracks: 1 = process, 2 = thread, 3 = counter.
 * Events: 1 to 4 on the thread, 5 = the sample of the counter. */
static void not_sealed(struct tk_trace *t) { t->sealed = false; }
static void gap(struct tk_trace *t) { t->tracks[3].first++; }
static void no_end(struct tk_trace *t) { t->tracks[3].count = 0; }
static void parent(struct tk_trace *t) { t->tracks[2].parent = 3; }
static void orphan(struct tk_trace *t) { t->tracks[2].parent = 0; }
static void other_track(struct tk_trace *t) { t->events[2].track = 3; }
static void begin_left(struct tk_trace *t) { t->events[1].kind = TK_EVENT_BEGIN; }
static void end_left(struct tk_trace *t) { t->events[3].kind = TK_EVENT_END; }
static void dead_left(struct tk_trace *t) { t->events[3].kind = KIND_DEAD; }
static void negative_dur(struct tk_trace *t) { t->events[3].dur = -1; }
static void dur_of_instant(struct tk_trace *t) { t->events[4].dur = 1; }
static void dur_of_counter(struct tk_trace *t) { t->events[5].dur = 1; }
static void beyond_time(struct tk_trace *t) { t->events[3].dur = INT64_MAX; }
static void no_class(struct tk_trace *t) { t->events[1].cls = 0; }
static void class_range(struct tk_trace *t) { t->events[1].cls = t->n_classes + 1; }
static void class_name(struct tk_trace *t) { t->classes[1].name = t->store->strings.n + 1; }
static void class_cat(struct tk_trace *t) { t->classes[1].cat = t->store->strings.n + 1; }
static void args_range(struct tk_trace *t) { t->events[1].args = (uint32_t)t->store->pool.len; }
static void decreasing(struct tk_trace *t) { t->events[3].ts = t->events[2].ts - 1; }
static void depth_jumps(struct tk_trace *t) { t->events[2].depth = 5; }
static void depth_of_counter(struct tk_trace *t) { t->events[5].depth = 1; }
static void sticks_out(struct tk_trace *t) { t->events[2].dur = t->events[1].dur * 2; }
static void flow_order(struct tk_trace *t) { t->flow_points[1].ts = t->flow_points[2].ts + 1; }
static void flow_nowhere(struct tk_trace *t) { t->flow_points[1].at = 0; }
static void flow_range(struct tk_trace *t) { t->flow_points[1].at = t->n_events + 1; }
static void flow_class(struct tk_trace *t) { t->flow_points[1].cls = t->n_classes + 1; }
static void flow_args(struct tk_trace *t) { t->flow_points[1].args = (uint32_t)t->store->pool.len + 7; }

/* The packed args of the first event refer to a string that does not exist. */
static void args_string(struct tk_trace *t) {
  args_begin(t);
  args_str(t, KEY_ID, TK_ARG_STR, t->store->strings.n + 1);
  t->events[1].args = args_end(t);
}
static void args_key(struct tk_trace *t) {
  args_begin(t);
  args_int(t, t->store->strings.n + 1, 5);
  t->events[1].args = args_end(t);
}

static void broken(const char *name, void (*breaks)(struct tk_trace *)) {
  struct tk_trace *t = feed_text(text);
  struct tk_err err = {0};
  assert_int_equal(t->n_tracks, 3);
  assert_int_equal(t->n_events, 5);
  assert_true(tk_check(t, &err));
  breaks(t);
  if (tk_check(t, &err)) fail_msg("not found: %s", name);
  assert_int_equal(err.code, TK_ECORRUPT);
  assert_non_null(strstr(err.msg, "invariant"));
  tk_free(t);
}

static void invariants(void **state) {
#define CASE(f) {#f, f}
  static const struct {
    const char *name;
    void (*breaks)(struct tk_trace *);
  } cases[] = {CASE(not_sealed),       CASE(gap),          CASE(no_end),         CASE(parent),
               CASE(orphan),           CASE(other_track),  CASE(begin_left),     CASE(end_left),
               CASE(dead_left),        CASE(negative_dur), CASE(dur_of_instant), CASE(dur_of_counter),
               CASE(beyond_time),      CASE(no_class),     CASE(class_range),    CASE(class_name),
               CASE(class_cat),        CASE(args_range),   CASE(decreasing),     CASE(depth_jumps),
               CASE(depth_of_counter), CASE(sticks_out),   CASE(flow_order),     CASE(flow_nowhere),
               CASE(flow_range),       CASE(flow_class),   CASE(flow_args),      CASE(args_string),
               CASE(args_key)};
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) broken(cases[i].name, cases[i].breaks);
}

/* Flagged events may extend beyond their parent. */
static void exceptions(void **state) {
  static const uint8_t flags[] = {TK_FLAG_OVERLAPS, TK_FLAG_UNFINISHED};
  (void)state;
  for (size_t i = 0; i < LENGTH(flags); i++) {
    struct tk_trace *t = feed_text(text);
    struct tk_err err = {0};
    t->events[3].dur *= 5;
    t->events[3].flags |= flags[i];
    if (!tk_check(t, &err)) fail_msg("flag %u: %s", flags[i], err.msg);
    tk_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(invariants), cmocka_unit_test(exceptions)};
  return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
