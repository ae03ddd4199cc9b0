/* test_perfetto_passthrough.c - data of a Perfetto file that is not events is written back, unless an edit may have made it
 * invalid; then it is counted as lost. */
#include "help.h"

#include "format/format.h"
#include "format/pb_out.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/kinds.h"

enum { SEQUENCE = 9, STATS = 35 };

struct file {
  struct mem mem;
  struct buf trace, packet, inner, deep;
};

static void add_packet(struct file *f, uint32_t field, const struct buf *message) {
  f->packet.len = 0;
  pb_u64(&f->packet, PACKET_SEQUENCE_ID, SEQUENCE);
  pb_message(&f->packet, field, message);
  pb_message(&f->trace, TRACE_PACKET, &f->packet);
}

static void add_text_packet(struct file *f, uint32_t field, uint32_t inner, const char *text) {
  f->inner.len = 0;
  pb_bytes(&f->inner, inner, text, strlen(text));
  add_packet(f, field, &f->inner);
}

static void add_clock(struct file *f, uint64_t id, uint64_t ns) {
  f->deep.len = 0;
  pb_u64(&f->deep, CLOCK_ID, id);
  pb_u64(&f->deep, CLOCK_TIMESTAMP, ns);
  pb_message(&f->inner, SNAPSHOT_CLOCKS, &f->deep);
}

static void add_event(struct file *f, uint64_t ns, uint32_t type) {
  f->packet.len = f->inner.len = 0;
  pb_u64(&f->inner, EVENT_TYPE, type);
  pb_u64(&f->inner, EVENT_TRACK_UUID, 7);
  if (type == TYPE_SLICE_BEGIN) pb_bytes(&f->inner, EVENT_NAME, "the span", 8);
  pb_u64(&f->packet, PACKET_TIMESTAMP, ns);
  pb_u64(&f->packet, PACKET_SEQUENCE_ID, SEQUENCE);
  pb_message(&f->packet, PACKET_TRACK_EVENT, &f->inner);
  pb_message(&f->trace, TRACE_PACKET, &f->packet);
}

/* Makes a file with one span, and packets and fields that the graph does not model. `primary`: the clock of the timestamps. */
static void make_file(struct file *f, uint64_t primary) {
  *f = (struct file){.trace = {.len = 0}};
  f->trace.mem = f->packet.mem = f->inner.mem = f->deep.mem = &f->mem;
  add_clock(f, primary, 1000);
  add_clock(f, CLOCK_REALTIME, 5000000);
  pb_u64(&f->inner, SNAPSHOT_PRIMARY_CLOCK, primary);
  add_packet(f, PACKET_CLOCK_SNAPSHOT, &f->inner);
  add_text_packet(f, STATS, 15, "the statistics");
  add_text_packet(f, PACKET_INTERNED_DATA, 15, "interned for them");
  f->inner.len = f->deep.len = 0;
  pb_i64(&f->deep, THREAD_PID, 1);
  pb_i64(&f->deep, THREAD_TID, 2);
  pb_u64(&f->inner, DESCRIPTOR_UUID, 7);
  pb_message(&f->inner, DESCRIPTOR_THREAD, &f->deep);
  pb_bytes(&f->inner, 999, "a field of the track", 20);
  add_packet(f, PACKET_TRACK_DESCRIPTOR, &f->inner);
  add_event(f, 2000, TYPE_SLICE_BEGIN);
  add_event(f, 3000, TYPE_SLICE_END);
}

static void free_file(struct file *f) {
  buf_free(&f->trace);
  buf_free(&f->packet);
  buf_free(&f->inner);
  buf_free(&f->deep);
}

/* A trace written as Perfetto after some edits, and the amount of passthrough data that was lost. */
struct output {
  struct mem mem;
  struct out out;
  struct bytes bytes;
  uint64_t lost;
};

static struct tk_trace *load(const struct file *f) {
  struct tk_err err = {0};
  struct tk_trace *t = feed_bytes(f->trace.data, f->trace.len, (struct feed){.format = "perfetto"}, &err);
  if (!t) fail_msg("%s", err.msg);
  return t;
}

static void write_out(const struct tk_trace *first, const struct tk_trace *second, struct output *o) {
  const struct sink_options options = {0};
  struct tk_err err = {0};
  *o = (struct output){.lost = 0};
  assert_true(out_memory(&o->out, &(struct out_options){0}, &o->mem, &err));
  struct sink *s = format_perfetto.writer(&o->out, &options);
  assert_non_null(s);
  assert_true(s->open(s, first, &err) && s->write(s, first, &err));
  if (second) assert_true(s->write(s, second, &err));
  assert_true(s->close(s, first, NULL, &err) && out_commit(&o->out, &err));
  o->lost = s->saved.lost[TK_LOSS_PASSTHROUGH];
  s->free(s);
  o->bytes.p = (uint8_t *)(uintptr_t)out_memory_data(&o->out, &o->bytes.n);
}

static void edit_and_write(const struct file *f, unsigned edits, struct output *o) {
  struct tk_trace *t = load(f);
  t->edits = (uint8_t)edits;
  write_out(t, NULL, o);
  tk_free(t);
}

static bool holds(const struct output *o, const char *text) { return memmem(o->bytes.p, o->bytes.n, text, strlen(text)) != NULL; }

static void test_no_edit(void **state) {
  struct file f;
  struct output o;
  (void)state;
  make_file(&f, CLOCK_BOOTTIME);
  edit_and_write(&f, 0, &o);
  assert_true(holds(&o, "the statistics") && holds(&o, "interned for them") && holds(&o, "a field of the track"));
  assert_int_equal(o.lost, 0);
  out_close(&o.out);
  free_file(&f);
}

/* Every edit except a move of the whole trace drops the packets; the fields of the tracks stay. */
static void test_edits(void **state) {
  static const unsigned edits[] = {TK_EDIT_DROPPED, TK_EDIT_RENAMED, TK_EDIT_MOVED, TK_EDIT_DROPPED | TK_EDIT_MOVED,
                                   TK_EDIT_MOVED | TK_EDIT_STRETCHED};
  struct file f;
  (void)state;
  make_file(&f, CLOCK_BOOTTIME);
  for (size_t i = 0; i < LENGTH(edits); i++) {
    struct output o;
    const bool stays = edits[i] == TK_EDIT_MOVED;
    edit_and_write(&f, edits[i], &o);
    assert_int_equal(holds(&o, "the statistics"), stays);
    assert_int_equal(holds(&o, "interned for them"), stays);
    assert_true(holds(&o, "the span"));
    assert_true(holds(&o, "a field of the track"));
    assert_int_equal(o.lost, stays ? 0 : 2);
    out_close(&o.out);
  }
  free_file(&f);
}

/* The output always declares the primary clock, so that it has the same times on the same clock. */
static void test_clock(void **state) {
  static const unsigned edits[] = {0, TK_EDIT_DROPPED, TK_EDIT_MOVED, TK_EDIT_RENAMED};
  static const uint64_t clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC};
  (void)state;
  for (size_t c = 0; c < LENGTH(clocks); c++) {
    struct file f;
    make_file(&f, clocks[c]);
    struct tk_trace *before = load(&f);
    for (size_t i = 0; i < LENGTH(edits); i++) {
      struct output o;
      struct tk_err err = {0};
      edit_and_write(&f, edits[i], &o);
      struct tk_trace *t = feed_bytes(o.bytes.p, o.bytes.n, (struct feed){.format = "perfetto"}, &err);
      assert_non_null(t);
      assert_int_equal(t->n_events, 1);
      assert_int_equal(t->clock, before->clock);
      assert_int_equal(t->zero_ns, before->zero_ns);
      assert_int_equal(t->origin_ns, before->origin_ns);
      const bool drops = edits[i] && edits[i] != TK_EDIT_MOVED;
      assert_int_equal(t->n_notes, before->n_notes - drops); /* without the note about the dropped packets */
      tk_free(t);
      out_close(&o.out);
    }
    tk_free(before);
    free_file(&f);
  }
}

/* The packets of a second graph are not written, because readers would take them for packets of the first graph's sequences. */
static void test_second(void **state) {
  struct file f;
  struct output o;
  (void)state;
  make_file(&f, CLOCK_BOOTTIME);
  struct tk_trace *first = load(&f), *second = load(&f);
  write_out(first, second, &o);
  const uint8_t *at = memmem(o.bytes.p, o.bytes.n, "the statistics", 14);
  assert_non_null(at);
  assert_null(memmem(at + 1, o.bytes.n - (size_t)(at + 1 - o.bytes.p), "the statistics", 14));
  assert_int_equal(o.lost, 2);
  tk_free(first);
  tk_free(second);
  out_close(&o.out);
  free_file(&f);
}

/* ---- events without a usable time ---- */

/* Adds the sequence's own incremental clock 64; unless `whole`, its snapshot is in a damaged packet. */
static void add_own_clock(struct file *f, uint64_t ns, bool whole) {
  f->deep.len = f->inner.len = f->packet.len = 0;
  pb_u64(&f->deep, CLOCK_ID, 64);
  pb_u64(&f->deep, CLOCK_TIMESTAMP, ns);
  pb_u64(&f->deep, CLOCK_IS_INCREMENTAL, 1);
  pb_message(&f->inner, SNAPSHOT_CLOCKS, &f->deep);
  f->deep.len = 0;
  pb_u64(&f->deep, CLOCK_ID, CLOCK_BOOTTIME);
  pb_u64(&f->deep, CLOCK_TIMESTAMP, ns);
  pb_message(&f->inner, SNAPSHOT_CLOCKS, &f->deep);
  pb_message(&f->packet, PACKET_CLOCK_SNAPSHOT, &f->inner);
  f->inner.len = 0;
  pb_u64(&f->inner, DEFAULTS_TIMESTAMP_CLOCK_ID, 64);
  pb_u64(&f->packet, PACKET_SEQUENCE_ID, SEQUENCE);
  pb_u64(&f->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
  pb_message(&f->packet, PACKET_DEFAULTS, &f->inner);
  if (!whole) buf_append(&f->packet, "\x9a\x06\x7f", 3); /* a field that ends beyond the packet */
  pb_message(&f->trace, TRACE_PACKET, &f->packet);
}

static void add_event_without_time(struct file *f) {
  f->packet.len = f->inner.len = 0;
  pb_u64(&f->inner, EVENT_TYPE, TYPE_SLICE_BEGIN);
  pb_u64(&f->inner, EVENT_TRACK_UUID, 7);
  pb_bytes(&f->inner, EVENT_NAME, "without a time", 14);
  pb_u64(&f->packet, PACKET_SEQUENCE_ID, SEQUENCE);
  pb_message(&f->packet, PACKET_TRACK_EVENT, &f->inner);
  pb_message(&f->trace, TRACE_PACKET, &f->packet);
}

/* Checks that the file is the same after two round trips. `kept`: number of passthrough items, such as events without a usable
 * time. */
static void round_trip(const struct file *f, tk_id n_events, uint64_t kept) {
  struct tk_trace *before = load(f);
  struct output once, twice;
  struct tk_err err = {0};
  assert_int_equal(before->n_events, n_events);
  assert_int_equal(format_perfetto.n_passthrough(before), kept);
  write_out(before, NULL, &once);
  struct tk_trace *t = feed_bytes(once.bytes.p, once.bytes.n, (struct feed){.format = "perfetto"}, &err);
  if (!t) fail_msg("%s", err.msg);
  assert_int_equal(t->n_events, n_events);
  assert_int_equal(format_perfetto.n_passthrough(t), kept);
  write_out(t, NULL, &twice);
  assert_int_equal(twice.bytes.n, once.bytes.n);
  assert_memory_equal(twice.bytes.p, once.bytes.p, once.bytes.n);
  out_close(&once.out);
  out_close(&twice.out);
  tk_free(before);
  tk_free(t);
}

/* Events without a usable time: a time before the first snapshot, and a time that is negative because the packet with its clock
 * is damaged. In the output, these events come after snapshots, or without their clock. */
static void test_untimed(void **state) {
  struct file first, f;
  (void)state;
  make_file(&f, CLOCK_BOOTTIME);
  make_file(&first, CLOCK_BOOTTIME);
  first.trace.len = 0;
  add_event(&first, (uint64_t)-7000, TYPE_SLICE_BEGIN);
  buf_append(&first.trace, f.trace.data, f.trace.len);
  round_trip(&first, 1, 4); /* and the fields of a descriptor */
  free_file(&first);
  f.trace.len = 0;
  add_own_clock(&f, (uint64_t)-5000, false);
  add_event(&f, 1000, TYPE_SLICE_BEGIN);
  add_event(&f, 1000, TYPE_SLICE_BEGIN);
  add_event_without_time(&f);
  add_event(&f, 9000, TYPE_SLICE_BEGIN);
  add_event(&f, 1000, TYPE_SLICE_END);
  round_trip(&f, 1, 3);
  free_file(&f);
}

/* The table of kinds must be sorted, because it is searched by bisection. */
static void test_kinds(void **state) {
  const struct kind_of_packet *first = NULL, *last = NULL;
  int found = 0;
  (void)state;
  for (uint32_t field = 0; field <= PACKET_TRACEKIT; field++) {
    const struct kind_of_packet *kind = kind_find(field);
    if (!kind) continue;
    assert_int_equal(kind->field, field);
    assert_true(!last || kind == last + 1); /* no row between them is out of order */
    if (!first) first = kind;
    last = kind;
    found++;
  }
  assert_true(found > 100);
  assert_string_equal(first->name, "ftrace_events");
  assert_string_equal(last->name, "tracekit");
  assert_null(kind_find(PACKET_TRACEKIT + 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_edit), cmocka_unit_test(test_edits), cmocka_unit_test(test_clock),
                                     cmocka_unit_test(test_second), cmocka_unit_test(test_untimed), cmocka_unit_test(test_kinds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
