/* test_pb_unpack.c - pb_unpack protects protobuf-c from excessive depth, repetition and memory; the reader of Perfetto packets, whose
 * messages may be nested recursively, does not use protobuf-c. */
#include "help.h"

#include "format/pb_out.h"
#include "format/pb_unpack.h"
#include "hlo.pb-c.h"
#include "perfetto_trace.pb-c.h"

static struct pb over(const struct buf *b) { return pb_over(b->data, b->len); }

/* ---- memory ---- */

/* Makes an instruction with n groups of two devices. */
static struct buf collective(struct mem *mem, int n) {
  struct buf b = {.mem = mem}, group = {.mem = mem};
  pb_i64(&group, 1, 0);
  pb_i64(&group, 1, 1);
  pb_bytes(&b, 1, "all-reduce.1", 12);
  for (int i = 0; i < n; i++) pb_message(&b, 49, &group);
  buf_free(&group);
  return b;
}

static void budget(void **state) {
  struct mem mem = {0}, small = {.limit = 64 << 10};
  struct buf b = collective(&mem, 100000);
  struct tk_err err;
  (void)state;
  err_clear(&err);
  assert_null(pb_unpack(&hlo__hlo_instruction_proto__descriptor, over(&b), &small));
  assert_true(small.failed);
  assert_int_equal(small.used, 0);
  assert_true(small.peak <= small.limit);
  assert_false(mem_check(&small, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  small = (struct mem){0};
  Hlo__HloInstructionProto *i = pb_unpack(&hlo__hlo_instruction_proto__descriptor, over(&b), &small);
  assert_non_null(i);
  assert_int_equal(i->n_replica_groups, 100000);
  assert_true(small.used > 100000);
  pb_unpack_free(i, &small);
  assert_int_equal(small.used, 0);
  buf_free(&b);
}

/* Whichever allocation fails, the result is NULL and nothing leaks. */
static void every_allocation(void **state) {
  struct mem mem = {0};
  struct buf b = collective(&mem, 20);
  Hlo__HloInstructionProto *i = NULL;
  unsigned failures = 0;
  (void)state;
  for (uint64_t limit = 1; !i; limit += 8) {
    struct mem small = {.limit = limit};
    i = pb_unpack(&hlo__hlo_instruction_proto__descriptor, over(&b), &small);
    assert_true(small.failed == !i);
    failures += !i;
    pb_unpack_free(i, &small);
    assert_int_equal(small.used, 0);
  }
  assert_true(failures > 20);
  buf_free(&b);
}

/* ---- repetition ---- */

/* A message that occurs twice is refused: protobuf-c would merge both, and would need quadratic time to merge a million of
 * them. */
static void message_twice(void **state) {
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  (void)state;
  pb_bytes(&b, 87, "\x0a\x02\x08\x01", 4);
  Hlo__HloInstructionProto *i = pb_unpack(&hlo__hlo_instruction_proto__descriptor, over(&b), &mem);
  assert_non_null(i);
  assert_int_equal(i->collective_device_list->n_replica_groups, 1);
  pb_unpack_free(i, &mem);
  pb_bytes(&b, 87, "\x0a\x02\x08\x01", 4);
  assert_null(pb_unpack(&hlo__hlo_instruction_proto__descriptor, over(&b), &mem));
  assert_false(mem.failed);
  buf_free(&b);
}

static void damaged(void **state) {
  struct mem mem = {0};
  struct buf b = collective(&mem, 3);
  size_t cut = 0;
  (void)state;
  for (size_t n = b.len; n-- > 1;) {
    Hlo__HloInstructionProto *i = pb_unpack(&hlo__hlo_instruction_proto__descriptor, pb_over(b.data, n), &mem);
    cut += !i;
    pb_unpack_free(i, &mem);
  }
  assert_true(cut > 10);
  assert_null(pb_unpack(&hlo__hlo_instruction_proto__descriptor, pb_over(NULL, 0), &mem));
  assert_false(mem.failed);
  buf_free(&b);
}

/* ---- depth ---- */

/* Makes a debug annotation inside `levels` others (dict_entries), built from the end. */
static struct buf nested(struct mem *mem, unsigned levels) {
  enum { ENTRY = 11, ROOM = 8 };
  struct buf b = {.mem = mem};
  size_t cap = (size_t)levels * ROOM, at = cap;
  uint8_t head[16];
  assert_non_null(buf_reserve(&b, cap + 1));
  for (unsigned i = 0; i < levels; i++) {
    size_t n = (size_t)(varint_put(pb_key(head, ENTRY, PB_BYTES), cap - at) - head);
    at -= n;
    memcpy(b.data + at, head, n);
  }
  memmove(b.data, b.data + at, cap - at);
  b.len = cap - at;
  return b;
}

static bool unpacks(unsigned levels) {
  struct mem mem = {0};
  struct buf b = nested(&mem, levels);
  void *m = pb_unpack(&perfetto__debug_annotation__descriptor, over(&b), &mem);
  bool ok = m != NULL;
  assert_false(mem.failed);
  pb_unpack_free(m, &mem);
  buf_free(&b);
  return ok;
}

/* Without the scan, 20,000 levels (74 kB) would crash the process: with a stack of 8 MB, protobuf-c 1.4.1 can read 8,000 levels
 * but overflows at 9,000. */
static void deep(void **state) {
  (void)state;
  assert_true(unpacks(PB_UNPACK_DEPTH));
  assert_false(unpacks(PB_UNPACK_DEPTH + 1));
  assert_false(unpacks(20000));
}

/* The reader drops the part that is too deep, and keeps its event. */
static void deep_for_the_reader(void **state) {
  struct mem mem = {0};
  struct buf annotation = {.mem = &mem}, event = {.mem = &mem}, packet = {.mem = &mem}, trace = {.mem = &mem};
  struct buf inner = nested(&mem, 20000);
  struct tk_err err;
  (void)state;
  pb_bytes(&annotation, 10, "deep", 4);
  buf_append(&annotation, inner.data, inner.len);
  pb_u64(&event, 9, 3); /* instant */
  pb_bytes(&event, 23, "event", 5);
  pb_message(&event, 4, &annotation);
  pb_u64(&packet, 8, 1000);
  pb_u64(&packet, 10, 1);
  pb_message(&packet, 11, &event);
  pb_message(&trace, 1, &packet);
  assert_true(trace.len > 70000);
  struct tk_trace *t = feed_bytes(trace.data, trace.len, (struct feed){.format = "perfetto"}, &err);
  if (!t) fail_msg("%s", err.msg);
  assert_int_equal(t->n_events, 1);
  tk_free(t);
  buf_free(&annotation);
  buf_free(&event);
  buf_free(&packet);
  buf_free(&trace);
  buf_free(&inner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(budget),  cmocka_unit_test(every_allocation), cmocka_unit_test(message_twice),
      cmocka_unit_test(damaged), cmocka_unit_test(deep),             cmocka_unit_test(deep_for_the_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
