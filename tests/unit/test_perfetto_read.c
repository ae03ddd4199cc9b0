/* test_perfetto_read.c - the graph does not depend on the chunks in which bytes arrive; a truncated file gives everything before the
 * cut; damage anywhere gives a result or an error. */
#include "help.h"

#include "format/pb_out.h"
#include "format/perfetto/fields.h"

/* ---- a small trace by hand ---- */

struct builder {
  struct mem mem;
  struct buf trace, packet, inner, deep;
};

static void begin(struct builder *b) {
  *b = (struct builder){.trace = {.len = 0}};
  b->trace.mem = b->packet.mem = b->inner.mem = b->deep.mem = &b->mem;
}

static void release(struct builder *b) {
  buf_free(&b->trace);
  buf_free(&b->packet);
  buf_free(&b->inner);
  buf_free(&b->deep);
}

static void thread(struct builder *b, uint64_t uuid, int64_t pid, int64_t tid) {
  b->packet.len = b->inner.len = b->deep.len = 0;
  pb_i64(&b->deep, THREAD_PID, pid);
  pb_i64(&b->deep, THREAD_TID, tid);
  pb_u64(&b->inner, DESCRIPTOR_UUID, uuid);
  pb_message(&b->inner, DESCRIPTOR_THREAD, &b->deep);
  pb_message(&b->packet, PACKET_TRACK_DESCRIPTOR, &b->inner);
  pb_message(&b->trace, TRACE_PACKET, &b->packet);
}

static void event(struct builder *b, uint64_t ns, uint64_t uuid, uint32_t type, const char *name) {
  b->packet.len = b->inner.len = 0;
  pb_u64(&b->inner, EVENT_TYPE, type);
  pb_u64(&b->inner, EVENT_TRACK_UUID, uuid);
  if (name) pb_bytes(&b->inner, EVENT_NAME, name, strlen(name));
  if (b->deep.len) pb_message(&b->inner, EVENT_DEBUG_ANNOTATIONS, &b->deep);
  pb_u64(&b->packet, PACKET_TIMESTAMP, ns);
  pb_u64(&b->packet, PACKET_SEQUENCE_ID, 1);
  pb_message(&b->packet, PACKET_TRACK_EVENT, &b->inner);
  pb_message(&b->trace, TRACE_PACKET, &b->packet);
  b->deep.len = 0;
}

static void small(struct builder *b) {
  begin(b);
  thread(b, 7, 1, 2);
  b->deep.len = 0;
  event(b, 1000, 7, TYPE_SLICE_BEGIN, "outer");
  event(b, 1100, 7, TYPE_SLICE_BEGIN, "inner");
  event(b, 1200, 7, TYPE_INSTANT, "tick");
  event(b, 1300, 7, TYPE_SLICE_END, NULL);
  event(b, 1400, 7, TYPE_SLICE_END, NULL);
}

static void test_small(void **state) {
  struct builder b;
  struct tk_err err = {0};
  (void)state;
  small(&b);
  struct tk_trace *t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  assert_non_null(t);
  assert_string_equal(t->format, "perfetto");
  assert_int_equal(t->n_events, 3);
  assert_int_equal(t->events[1].dur, 400000);
  assert_int_equal(t->events[2].depth, 1);
  assert_int_equal(t->events[3].depth, 2);
  tk_free(t);
  release(&b);
}

static void test_chunks(void **state) {
  struct builder b;
  (void)state;
  small(&b);
  char *whole = dump_fed(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"});
  for (size_t chunk = 1; chunk < 9; chunk++) {
    char *got = dump_fed(b.trace.data, b.trace.len, (struct feed){.format = "perfetto", .chunk = chunk});
    expect(strcmp(got, whole) == 0, "chunks", got, whole);
    free(got);
  }
  free(whole);
  release(&b);
}

static void expect_same(const struct buf *trace, size_t chunk) {
  char *whole = dump_fed(trace->data, trace->len, (struct feed){.format = "perfetto"});
  char *got = dump_fed(trace->data, trace->len, (struct feed){.format = "perfetto", .chunk = chunk});
  expect(strcmp(got, whole) == 0, "chunks", got, whole);
  free(got);
  free(whole);
}

/* Truncated at every byte, and with every byte changed: no crash, the result passes the check, and chunks make no
 * difference. */
static void test_damage(void **state) {
  struct builder b;
  (void)state;
  small(&b);
  for (size_t n = 0; n <= b.trace.len; n++) free(dump_fed(b.trace.data, n, (struct feed){.format = "perfetto"}));
  for (size_t i = 0; i < b.trace.len; i++) {
    for (unsigned bit = 0; bit < 8; bit++) {
      b.trace.data[i] ^= (uint8_t)(1u << bit);
      expect_same(&b.trace, 1);
      b.trace.data[i] ^= (uint8_t)(1u << bit);
    }
  }
  release(&b);
}

/* Tests damage in a file that is longer than the input window. */
static void test_far_damage(void **state) {
  enum { EVENTS = 60000, EVERY = 7919 };
  struct builder b;
  (void)state;
  small(&b);
  for (unsigned i = 0; i < EVENTS; i++) event(&b, 2000 + i, 7, TYPE_INSTANT, "far behind what came before");
  for (size_t i = b.trace.len / 3; i < b.trace.len; i += i % EVERY + EVERY) b.trace.data[i] ^= 0x15;
  for (size_t i = b.trace.len / 2; i < b.trace.len / 2 + 300000; i++) b.trace.data[i] = (uint8_t)(i * 37 >> 3);
  expect_same(&b.trace, 4093);
  expect_same(&b.trace, 100000);
  struct tk_err err = {0};
  struct tk_trace *t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  assert_non_null(t);
  assert_true(t->n_events > EVENTS - 300000 / 30 && t->n_events < EVENTS && !t->truncated);
  tk_free(t);
  release(&b);
}

/* Dictionaries nested 5,000 deep are cut at depth 100; the reader does not recurse. */
static void test_deep(void **state) {
  struct builder b;
  struct tk_err err = {0};
  (void)state;
  begin(&b);
  thread(&b, 7, 1, 2);
  b.deep.len = 0;
  pb_u64(&b.deep, ANNOTATION_INT, 1);
  for (int i = 0; i < 5000; i++) {
    b.inner.len = 0;
    pb_bytes(&b.inner, ANNOTATION_NAME, "k", 1);
    pb_message(&b.inner, ANNOTATION_DICT, &b.deep);
    b.deep.len = 0;
    buf_append(&b.deep, b.inner.data, b.inner.len);
  }
  event(&b, 1, 7, TYPE_INSTANT, "deep");
  struct tk_trace *t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  struct tk_arg arg;
  assert_non_null(t);
  assert_true(tk_args_find(t, t->events[1].args, "k", &arg));
  assert_int_equal(arg.type, TK_ARG_JSON);
  tk_free(t);
  release(&b);
}

/* ---- unmodelled packets ---- */

static void raw_packet(struct builder *b, uint32_t sequence, uint64_t flags, uint32_t field, const char *bytes) {
  b->packet.len = 0;
  pb_u64(&b->packet, PACKET_SEQUENCE_ID, sequence);
  pb_u64(&b->packet, PACKET_SEQUENCE_FLAGS, flags);
  pb_bytes(&b->packet, field, bytes, strlen(bytes));
  pb_message(&b->trace, TRACE_PACKET, &b->packet);
}

static bool holds(const struct tk_trace *t, const struct tk_meta *m, const char *text) {
  return m && memmem(trace_raw(t, m->at), (size_t)m->size, text, strlen(text)) != NULL;
}

/* Unmodelled packets are kept, with the state that their sequence has built up since it was cleared. Of sequences with only events,
 * nothing is kept. */
static void test_kept(void **state) {
  struct builder b;
  struct tk_err err = {0};
  (void)state;
  small(&b);
  raw_packet(&b, 9, SEQUENCE_CLEARED, PACKET_INTERNED_DATA, "\x7a\x03old"); /* field 15, which is unknown */
  raw_packet(&b, 9, SEQUENCE_CLEARED, PACKET_INTERNED_DATA, "\x7a\x03new");
  raw_packet(&b, 9, SEQUENCE_NEEDS_STATE, 33, "\x7a\x06" "config");
  raw_packet(&b, 8, SEQUENCE_CLEARED, PACKET_INTERNED_DATA, "\x7a\x05other");
  struct tk_trace *t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  assert_non_null(t);
  const struct tk_meta *m = trace_meta(t, "perfetto.packets");
  assert_true(holds(t, m, "config") && holds(t, m, "new"));
  assert_false(holds(t, m, "old") || holds(t, m, "other") || holds(t, m, "outer"));
  tk_free(t);
  release(&b);
  small(&b);
  t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  assert_null(trace_meta(t, "perfetto.packets"));
  tk_free(t);
  release(&b);
}

/* A track for instants of global scope can also contain spans: its instants stay global, and its spans move to a thread,
 * complete. */
static void test_global(void **state) {
  struct builder b;
  struct tk_err err = {0};
  (void)state;
  begin(&b);
  b.deep.len = 0;
  pb_u64(&b.deep, TRACK_FORM, FORM_GLOBAL);
  pb_u64(&b.inner, DESCRIPTOR_UUID, 7);
  pb_bytes(&b.inner, DESCRIPTOR_NAME, "global", 6);
  pb_message(&b.inner, DESCRIPTOR_TRACEKIT, &b.deep);
  pb_message(&b.packet, PACKET_TRACK_DESCRIPTOR, &b.inner);
  pb_message(&b.trace, TRACE_PACKET, &b.packet);
  b.deep.len = 0;
  event(&b, 1000, 7, TYPE_SLICE_BEGIN, "span");
  event(&b, 1200, 7, TYPE_INSTANT, "tick");
  event(&b, 1300, 7, TYPE_SLICE_END, NULL);
  struct tk_trace *t = feed_bytes(b.trace.data, b.trace.len, (struct feed){.format = "perfetto"}, &err);
  assert_non_null(t);
  assert_int_equal(t->n_events, 2);
  for (tk_id i = 1; i <= 2; i++) {
    const struct tk_event *e = &t->events[i];
    assert_true(e->kind == TK_EVENT_SPAN ? e->dur == 300000 && t->tracks[e->track].kind == TK_TRACK_THREAD
                                   : e->kind == TK_EVENT_INSTANT && t->tracks[e->track].kind != TK_TRACK_THREAD);
  }
  tk_free(t);
  release(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_chunks), cmocka_unit_test(test_damage),
                                     cmocka_unit_test(test_far_damage),
                                     cmocka_unit_test(test_deep), cmocka_unit_test(test_kept),
                                     cmocka_unit_test(test_global)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
