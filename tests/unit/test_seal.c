/* test_seal.c - invariants established by sealing: order, depth, pairs, bound flows. tests/property/semantics tests each rule
 * by a small example; this test compares with independent models, at larger sizes. */
#include "help.h"
#include "graph/args.h"

static uint32_t rng_state = 1;
static uint32_t rng(uint32_t n) { return (rng_state = rng_state * 1664525 + 1013904223, rng_state >> 8) % n; }

static struct tk_event *span(struct tk_trace *t, tk_id track, tk_time ts, tk_time dur) {
  struct tk_event *e = trace_add_event(t);
  char name[32];
  snprintf(name, sizeof name, "e%u", t->n_events);
  *e = (struct tk_event){.ts = ts, .dur = dur, .track = track, .kind = TK_EVENT_SPAN};
  e->cls = trace_class(t, trace_text(t, name), 0);
  return e;
}

static void sealed(struct tk_trace *t) {
  struct tk_err err = {0};
  if (!seal(t, 1, &err) || !tk_check(t, &err)) fail_msg("%s", err.msg);
}

/* ---- complete spans, compared with a simple model that sorts and uses a stack ---- */

struct model {
  tk_time ts, dur;
  tk_id at, cls; /* order of adding */
  unsigned depth;
  bool overlaps;
};

static int by_time(const void *a, const void *b) {
  const struct model *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  if (x->dur != y->dur) return x->dur > y->dur ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

static void nest(struct model *m, size_t n) {
  size_t *stack = malloc((n + 1) * sizeof *stack), top = 0;
  assert_non_null(stack);
  qsort(m, n, sizeof *m, by_time);
  for (size_t i = 0; i < n; i++) {
    while (top && m[stack[top - 1]].ts + m[stack[top - 1]].dur <= m[i].ts && m[stack[top - 1]].ts != m[i].ts) top--;
    m[i].depth = (unsigned)top;
    m[i].overlaps = top && m[stack[top - 1]].ts + m[stack[top - 1]].dur < m[i].ts + m[i].dur;
    if (!m[i].overlaps) stack[top++] = i;
  }
  free(stack);
}

static void spans_as_modelled(void **state) {
  (void)state;
  for (int round = 0; round < 300; round++) {
    struct tk_trace *t = trace_new(0);
    tk_id tracks[] = {trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0),
                      trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(2), 0)};
    struct model m[2][200];
    size_t n[2] = {0, 0};
    uint32_t width = 1 + rng(40), length = 1 + rng(20);
    for (unsigned i = rng(200); i > 0; i--) {
      unsigned k = rng(2);
      tk_time ts = (tk_time)rng(width) * 10000, dur = (tk_time)rng(length) * 10000; /* multiples of 10 ns, well above rounding errors */
      struct tk_event *e = span(t, tracks[k], ts, dur);
      m[k][n[k]++] = (struct model){.ts = ts, .dur = dur, .at = t->n_events, .cls = e->cls};
    }
    sealed(t);
    for (unsigned k = 0; k < 2; k++) {
      nest(m[k], n[k]);
      assert_int_equal(t->tracks[tracks[k]].count, n[k]);
      for (size_t i = 0; i < n[k]; i++) {
        const struct tk_event *e = &t->events[t->tracks[tracks[k]].first + i];
        assert_int_equal(e->cls, m[k][i].cls);
        assert_int_equal(e->depth, m[k][i].depth);
        assert_int_equal((e->flags & TK_FLAG_OVERLAPS) != 0, m[k][i].overlaps);
      }
    }
    tk_free(t);
  }
}

/* The order of adding spans with different times does not matter. */
static void order_of_adding(void **state) {
  char *first = NULL;
  (void)state;
  for (int round = 0; round < 20; round++) {
    struct tk_trace *t = trace_new(0);
    tk_id track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0);
    tk_id names[64];
    unsigned order[64];
    for (unsigned i = 0; i < 64; i++) {
      char name[16];
      snprintf(name, sizeof name, "n%u", i);
      names[i] = trace_class(t, trace_text(t, name), 0);
      order[i] = i;
    }
    for (unsigned i = 63; round && i > 0; i--) {
      unsigned k = rng(i + 1), swap = order[i];
      order[i] = order[k], order[k] = swap;
    }
    for (unsigned i = 0; i < 64; i++) {
      tk_time ts = order[i] * 3, dur = order[i] % 8 == 0 ? 24 : order[i] % 4 == 0 ? 12 : 2;
      *trace_add_event(t) = (struct tk_event){.ts = ts, .dur = dur, .cls = names[order[i]], .track = track};
    }
    sealed(t);
    char *dump = dump_of(t);
    if (first) expect(strcmp(dump, first) == 0, "another order", dump, first);
    else first = strdup(dump);
    free(dump);
    tk_free(t);
  }
  free(first);
}

/* ---- pairs ---- */

/* A tree of spans, written as begin and end events of randomly interleaved threads, is reconstructed. */
static void pairs_as_modelled(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    struct tk_trace *t = trace_new(0);
    struct { tk_id cls[64]; unsigned n; } open[3] = {0};
    struct { tk_id cls; unsigned depth; } want[3][400];
    unsigned n[3] = {0}, left = rng(300);
    tk_id track[3], name = 0;
    tk_time now = 0;
    for (unsigned k = 0; k < 3; k++) track[k] = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(k), 0);
    while (left || open[0].n || open[1].n || open[2].n) {
      unsigned k = rng(3);
      now += rng(3);
      if (left && open[k].n < 60 && rng(2)) {
        char text[16];
        snprintf(text, sizeof text, "p%u", name++);
        tk_id cls = trace_class(t, trace_text(t, text), 0);
        *trace_add_event(t) = (struct tk_event){.ts = now, .cls = cls, .track = track[k], .kind = TK_EVENT_BEGIN};
        want[k][n[k]].cls = cls;
        want[k][n[k]++].depth = open[k].n;
        open[k].cls[open[k].n++] = cls;
        left--;
      } else if (open[k].n) {
        *trace_add_event(t) = (struct tk_event){.ts = now, .cls = open[k].cls[--open[k].n], .track = track[k], .kind = TK_EVENT_END};
      }
    }
    sealed(t);
    assert_int_equal(t->n_notes, 0);
    for (unsigned k = 0; k < 3; k++) {
      assert_int_equal(t->tracks[track[k]].count, n[k]);
      for (unsigned i = 0; i < n[k]; i++) {
        const struct tk_event *e = &t->events[t->tracks[track[k]].first + i];
        assert_int_equal(e->cls, want[k][i].cls);
        assert_int_equal(e->depth, want[k][i].depth);
        assert_int_equal(e->flags, TK_FLAG_PAIRED | TK_FLAG_END_NAMED);
      }
    }
    tk_free(t);
  }
}

/* ---- async ---- */

static void async_pairs(void **state) {
  enum { N = 20000 };
  struct tk_trace *t = trace_new(0);
  tk_id cls = trace_class(t, trace_text(t, "a"), trace_text(t, "c")),
        track = trace_track(t, TK_TRACK_ASYNCS, ident_int(1), ident_int(1), 0);
  (void)state;
  for (int end = 0; end < 2; end++) {
    for (int i = 0; i < N; i++) {
      args_begin(t);
      args_int(t, KEY_ID, i);
      uint32_t args = args_end(t);
      *trace_add_event(t) = (struct tk_event){.ts = i + end * (N + i), .cls = cls, .track = track, .args = args,
                                              .kind = end ? TK_EVENT_END : TK_EVENT_BEGIN, .flags = TK_FLAG_ASYNC};
    }
  }
  sealed(t);
  assert_int_equal(t->n_events, N);
  assert_int_equal(t->n_notes, 0);
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_arg id;
    assert_true(tk_args_find(t, t->events[i].args, "json.id", &id));
    assert_int_equal(t->events[i].ts, id.i);
    assert_int_equal(t->events[i].dur, N + id.i);
    assert_int_equal(t->events[i].depth, 0);
  }
  tk_free(t);
}

/* ---- flows: each point compared with a search through all spans ---- */

static tk_id bound_to(const struct tk_trace *t, tk_id track, const struct tk_flow_point *f) {
  tk_id found = 0;
  for (tk_id i = t->tracks[track].first; i < t->tracks[track].first + t->tracks[track].count; i++) {
    const struct tk_event *e = &t->events[i];
    if (f->role == TK_FLOW_END && !f->enclosing) {
      if (e->ts >= f->ts) return i;
    } else if (e->ts <= f->ts && e->ts + e->dur >= f->ts) {
      found = i; /* the innermost comes last */
    }
  }
  return found;
}

static void flows_as_searched(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    struct tk_trace *t = trace_new(0);
    tk_id tracks[3], cls = trace_class(t, trace_text(t, "f"), 0);
    for (unsigned k = 0; k < 3; k++) tracks[k] = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(k), 0);
    for (unsigned k = 0; k < 3; k++) /* properly nested, so that the innermost span is well defined */
      for (tk_time ts = 0; ts < 60; ts += 10 + rng(3)) {
        span(t, tracks[k], ts, 8);
        if (rng(2)) span(t, tracks[k], ts + 1, 4);
        if (rng(2)) span(t, tracks[k], ts + 2, 2);
      }
    for (unsigned i = 0; i < 60; i++) {
      struct tk_flow_point *f = trace_add_flow_point(t);
      *f = (struct tk_flow_point){
          .ts = rng(70), .id = rng(10), .cls = cls, .at = tracks[rng(3)], .role = (uint8_t)rng(3), .enclosing = rng(2)};
    }
    sealed(t);
    assert_int_equal(t->n_flow_points, 60);
    for (tk_id i = 1; i <= t->n_flow_points; i++) {
      const struct tk_flow_point *f = &t->flow_points[i];
      if (i > 1)
        assert_true(t->flow_points[i - 1].ts < f->ts ||
                    (t->flow_points[i - 1].ts == f->ts && t->flow_points[i - 1].role <= f->role));
      tk_id want = bound_to(t, tk_flow_point_track(t, f), f);
      assert_int_equal(f->bound, want != 0);
      if (want) assert_int_equal(f->at, want);
    }
    tk_free(t);
  }
}

/* ---- sizes ---- */

static void deep(bool paired) {
  enum { DEEP = 200000 };
  struct tk_trace *t = trace_new(0);
  tk_id track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0), cls = trace_class(t, trace_text(t, "d"), 0);
  for (int i = 0; i < DEEP; i++)
    *trace_add_event(t) = (struct tk_event){.ts = i, .dur = paired ? 0 : 2 * (DEEP - i), .cls = cls, .track = track,
                                            .kind = paired ? TK_EVENT_BEGIN : TK_EVENT_SPAN};
  for (int i = DEEP; paired && i-- > 0;)
    *trace_add_event(t) = (struct tk_event){.ts = 2 * DEEP - i, .cls = cls, .track = track, .kind = TK_EVENT_END};
  sealed(t);
  assert_int_equal(t->n_events, DEEP);
  for (tk_id i = 1; i <= DEEP; i++) {
    assert_int_equal(t->events[i].depth, i - 1 < UINT16_MAX ? i - 1 : UINT16_MAX);
    assert_int_equal(t->events[i].dur, 2 * (DEEP - (int)(i - 1)));
  }
  tk_free(t);
}

static void deep_spans(void **state) {
  (void)state;
  deep(false);
}
static void deep_pairs(void **state) {
  (void)state;
  deep(true);
}

static void nothing(void **state) {
  struct tk_trace *t = trace_new(0);
  (void)state;
  sealed(t);
  assert_true(t->sealed);
  tk_free(t);
  t = trace_new(0);
  trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0); /* tracks without events */
  sealed(t);
  tk_free(t);
}

/* Times at the limits of their range. */
static void extreme_times(void **state) {
  static const tk_time FAR = (tk_time)100 * 86400 * 1000000000000;
  struct tk_trace *t = trace_new(0);
  tk_id track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0);
  (void)state;
  span(t, track, -FAR, FAR - 1);
  span(t, track, FAR - 1, 0);
  span(t, track, 0, FAR);
  trace_add_event(t)->kind = TK_EVENT_BEGIN;
  t->events[t->n_events].ts = -FAR;
  t->events[t->n_events].track = track;
  t->events[t->n_events].cls = 1;
  sealed(t);
  tk_free(t);
}

/* ---- noise of producers that compute times as doubles ---- */

static char *dump_of_noise(const char *begin, const char *end) {
  char text[512];
  snprintf(text, sizeof text,
           "[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":100,\"name\":\"outer\"},"
           "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":110,\"name\":\"a\"},"
           "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%s},{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":%s,\"name\":\"b\"},"
           "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":130},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":140}]",
           end, begin);
  struct tk_trace *t = feed_text(text);
  char *dump = dump_of(t);
  tk_free(t);
  return dump;
}

static void noise(void **state) {
  static const char note[] = "less than 1 ns before";
  (void)state;
  char *exact = dump_of_noise("120", "120"), *noisy = dump_of_noise("119.99999", "120"), *early = dump_of_noise("119.999", "120");
  char *const said = strstr(noisy, note);
  assert_non_null(said);
  char *const line = memrchr(noisy, '\n', (size_t)(said - noisy));
  assert_non_null(line);
  line[1] = 0; /* notes come last */
  expect(strcmp(exact, noisy) == 0, "noise", noisy, exact);
  assert_null(strstr(exact, note));
  assert_null(strstr(early, note));
  free(exact);
  free(noisy);
  free(early);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(spans_as_modelled), cmocka_unit_test(order_of_adding),   cmocka_unit_test(pairs_as_modelled),
    cmocka_unit_test(async_pairs),       cmocka_unit_test(flows_as_searched), cmocka_unit_test(deep_spans),
    cmocka_unit_test(deep_pairs),        cmocka_unit_test(nothing),           cmocka_unit_test(extreme_times),
    cmocka_unit_test(noise),
  };
  return cmocka_run_group_tests_name("seal", tests, NULL, NULL);
}
