/* test_payload.c - payload bytes of a collective, computed from the args of its call. */
#include "help.h"

#include "align/collect/payload.h"
#include "tracekit.h"

static int64_t bytes_of(const char *name, const char *args) {
  char text[512];
  struct tk_err err;
  int n = snprintf(text, sizeof text,
                   "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":10,\"name\":\"%s\",\"args\":{%s}}]", name, args);
  struct tk_trace *t = tk_load_memory(text, (size_t)n, "t.json", NULL, &err);
  assert_non_null(t);
  int64_t bytes = payload_of_call(t, &t->events[1]);
  tk_free(t);
  return bytes;
}

static void calls(void **state) {
  (void)state;
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[394241]],\"Input type\":[\"float\"]"), 1576964);
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[8,3],[5]],\"Input type\":[\"c10::Half\",\"double\"]"), 88);
  assert_int_equal(bytes_of("nccl:_reduce_scatter_base", "\"Input Dims\":[[4]],\"Input type\":[\"long int\"]"), 32);
  assert_int_equal(bytes_of("nccl:broadcast", "\"Input Dims\":[[4],[]],\"Input type\":[\"int\",\"Scalar\"]"), 16);
}

/* Unknown inputs give -1. */
static void unknown(void **state) {
  (void)state;
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[4]]"), -1);
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[4]],\"Input type\":[\"quux\"]"), -1);
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[4],[4]],\"Input type\":[\"int\"]"), -1);
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[9223372036854775807]],\"Input type\":[\"int\"]"), -1);
  assert_int_equal(bytes_of("nccl:all_reduce", "\"Input Dims\":[[4,\"x\"]],\"Input type\":[\"int\"]"), -1);
  assert_int_equal(bytes_of("nccl:_all_gather_base", "\"Input Dims\":[[4]],\"Input type\":[\"int\"]"), -1);
  assert_int_equal(bytes_of("nccl:all_to_all", "\"Input Dims\":[[4]],\"Input type\":[\"int\"]"), -1);
  assert_int_equal(bytes_of("aten::mm", "\"Input Dims\":[[4]],\"Input type\":[\"int\"]"), -1);
}

static void elements(void **state) {
  (void)state;
  assert_int_equal(payload_element("BFloat16"), 2);
  assert_int_equal(payload_element("c10::BFloat16"), 2);
  assert_int_equal(payload_element("Float8_e4m3fn"), 1);
  assert_int_equal(payload_element("long int"), 8);
  assert_int_equal(payload_element(""), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls), cmocka_unit_test(unknown), cmocka_unit_test(elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
