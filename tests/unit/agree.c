/* agree.c - see agree.h. */
#include "agree.h"

static unsigned n_compared;

unsigned agree_count(void) { return n_compared; }

static void same_bytes(const char *where, const char *what, const void *a, const void *b, size_t n) {
  if (n && memcmp(a, b, n) != 0) fail_msg("%s: other %s", where, what);
}

static void same_strings(const char *where, const struct tk_trace *a, const struct tk_trace *b) {
  const struct intern *p = &a->store->strings, *q = &b->store->strings;
  for (uint32_t i = 1; i <= p->n && i <= q->n; i++) {
    if (p->strs[i].len != q->strs[i].len || memcmp(p->strs[i].bytes, q->strs[i].bytes, p->strs[i].len) != 0)
      fail_msg("%s: string %u is '%.60s', not '%.60s'", where, i, p->strs[i].bytes, q->strs[i].bytes);
  }
  assert_int_equal(p->n, q->n);
}

static void same_trace(const char *where, const struct tk_trace *a, const struct tk_trace *b) {
  same_strings(where, a, b);
  assert_int_equal(a->n_events, b->n_events);
  assert_int_equal(a->n_classes, b->n_classes);
  assert_int_equal(a->n_tracks, b->n_tracks);
  assert_int_equal(a->n_flow_points, b->n_flow_points);
  assert_int_equal(a->n_records, b->n_records);
  assert_int_equal(a->n_notes, b->n_notes);
  assert_int_equal(a->store->pool.len, b->store->pool.len);
  same_bytes(where, "events", a->events + 1, b->events + 1, a->n_events * sizeof *a->events);
  same_bytes(where, "classes", a->classes + 1, b->classes + 1, a->n_classes * sizeof *a->classes);
  same_bytes(where, "flow points", a->flow_points + 1, b->flow_points + 1, a->n_flow_points * sizeof *a->flow_points);
  same_bytes(where, "args", a->store->pool.data, b->store->pool.data, a->store->pool.len);
  same_bytes(where, "counts", &a->counts, &b->counts, sizeof a->counts);
  for (tk_id i = 1; i <= a->n_notes; i++) {
    assert_int_equal(a->notes[i].text, b->notes[i].text);
    assert_int_equal(a->notes[i].count, b->notes[i].count);
    assert_int_equal(a->notes[i].offset, b->notes[i].offset);
  }
}

void agree(const char *where, const void *p, size_t n, struct feed how) {
  struct tk_err one, many;
  struct tk_trace *a = feed_bytes(p, n, (struct feed){.no_templates = how.no_templates, .format = how.format}, &one);
  struct tk_trace *b = feed_bytes(p, n, how, &many);
  n_compared++;
  if (a && b) {
    char *x = dump_of(a), *y = dump_of(b);
    expect(strcmp(x, y) == 0, where, y, x);
    free(x);
    free(y);
    same_trace(where, a, b);
  } else {
    expect(!a && !b && one.code == many.code, where, many.msg, one.msg);
  }
  tk_free(a);
  tk_free(b);
}
