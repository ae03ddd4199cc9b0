/* test_ranks.c - tests that ranks are derived from the numbers in which names differ. Each row: names, then the expected
 * ranks. */
#include "help.h"

#include "source/ranks.h"

enum { MOST = 12 };

struct row {
  const char *names[MOST];
  enum ranks_from from;
  int64_t ranks[MOST];
  const char *words;
};

static void check(const struct row *row) {
  struct ranks r;
  size_t n = 0;
  while (n < MOST && row->names[n]) n++;
  assert_true(ranks_find(&r, row->names, n));
  if (r.from != row->from) print_error("%s, ...\n", row->names[0]);
  assert_int_equal(r.from, row->from);
  for (size_t i = 0; i < n && r.from != RANKS_NONE; i++) {
    if (r.of[i] != row->ranks[i]) print_error("%s\n", row->names[i]);
    assert_int_equal(r.of[i], row->ranks[i]);
  }
  if (row->words) assert_string_equal(r.words, row->words);
  ranks_free(&r);
}

static void one_number(void **state) {
  static const struct row rows[] = {
    {{"trace_0.json", "trace_10.json", "trace_2.json"}, RANKS_NUMBER, {0, 10, 2}, "'trace'"},
    {{"perfetto-trace-1.proto", "perfetto-trace-12.proto"}, RANKS_NUMBER, {1, 12}, "'trace'"},
    {{"gpu3.json", "gpu4.json.gz"}, RANKS_NUMBER, {3, 4}, "'gpu'"},
    {{"out_r3.json", "out_r0.json"}, RANKS_NUMBER, {3, 0}, "'r'"},
    {{"proc_3_of_8.json", "proc_7_of_8.json"}, RANKS_NUMBER, {3, 7}, "'proc'"},
    {{"a-7.proto", "a-07.proto"}, RANKS_NONE, {0}, NULL},
    {{"7.proto", "12.proto"}, RANKS_NUMBER, {7, 12}, ""},
    {{"h100_trace_1.json", "h100_trace_2.json"}, RANKS_NUMBER, {1, 2}, NULL},
    {{"gpu0/trace.json", "gpu11/trace.json"}, RANKS_NUMBER, {0, 11}, "'gpu'"},
    {{"x.zip:a/trace_4.json", "x.zip:a/trace_5.json"}, RANKS_NUMBER, {4, 5}, NULL},
    {{"alice_gpu0.json", "bob_gpu1.json"}, RANKS_NUMBER, {0, 1}, NULL}, /* other text may differ too */
    {{"trace_1024.json", "trace_4095.json"}, RANKS_NUMBER, {1024, 4095}, NULL},
    {{"trace_0.json", "trace_1.json", "trace_1.json"}, RANKS_NUMBER, {0, 1, 1}, NULL}, /* one name twice */
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(&rows[i]);
}

static void several_numbers(void **state) {
  static const struct row rows[] = {
    {{"1760100000.5-TP-3-EP-1.json", "1760100000.25-TP-4-EP-1.json"}, RANKS_NUMBER, {3, 4}, "'TP'"},
    {{"t-TP-0-EP-0.json", "t-TP-1-EP-0.json", "t-TP-2-EP-1.json", "t-TP-3-EP-1.json"}, RANKS_NUMBER, {0, 1, 2, 3}, "'TP'"},
    {{"1760100000-TP-0-PP-0", "1760100000-TP-1-PP-0", "1760100000-TP-0-PP-1", "1760100000-TP-1-PP-1"}, RANKS_NUMBER, {0, 1, 2, 3},
     "'PP' and 'TP'"},
    {{"node0_gpu0", "node0_gpu1", "node1_gpu0", "node1_gpu1"}, RANKS_NUMBER, {0, 1, 2, 3}, "'node' and 'gpu'"},
    {{"gpu0_node0", "gpu1_node0", "gpu0_node1", "gpu1_node1"}, RANKS_NUMBER, {0, 1, 2, 3}, "'node' and 'gpu'"},
    {{"node0_local_rank1", "node0_local_rank0", "node1_local_rank0", "node1_local_rank1"}, RANKS_NUMBER, {1, 0, 2, 3}, NULL},
    {{"host_4711_0.json", "host_4720_1.json"}, RANKS_NUMBER, {0, 1}, NULL}, /* the smaller numbers are the ranks */
    {{"3_pid812.json", "4_pid1.json"}, RANKS_NUMBER, {3, 4}, NULL},
    {{"viz_tp0.json", "viz_tp1.json", "proton_tp0.json", "proton_tp1.json"}, RANKS_NUMBER, {0, 1, 0, 1}, "'tp'"}, /* two profilers */
    {{"step_10_gpu_0.json", "step_20_gpu_1.json"}, RANKS_NUMBER, {0, 1}, "'gpu'"},
    {{"2026_11_20_10_21_49_0.json", "2026_11_20_10_21_50_1.json"}, RANKS_NUMBER, {0, 1}, NULL},
    {{"node0_4000_20260725180104140/trace.json", "node1_4001_20260725180104141/trace.json"}, RANKS_NUMBER, {0, 1}, "'node'"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(&rows[i]);
}

/* Numbers that count something else are not ranks. */
static void no_ranks(void **state) {
  static const struct row rows[] = {
    {{"a.json", "b.json"}, RANKS_NONE, {0}, NULL},
    {{"alice_gpu0.json", "alice_gpu1.json", "bob_gpu0.json", "bob_gpu1.json"}, RANKS_NONE, {0}, NULL}, /* two hosts */
    {{"viz_tp0.json", "viz_tp1.json", "proton_tp0.json"}, RANKS_NONE, {0}, NULL},
    {{"trace.json"}, RANKS_NONE, {0}, NULL},
    {{"trace_1.json", "trace_1.json"}, RANKS_NONE, {0}, NULL},
    {{"run_1700000312.json", "run_1700000001.json"}, RANKS_ORDER, {1, 0}, NULL},
    {{"prof_pid9.json", "prof_pid10.json", "prof_pid8.json"}, RANKS_ORDER, {1, 2, 0}, NULL},
    {{"t_4000123.json", "t_81.json"}, RANKS_ORDER, {1, 0}, NULL},
    {{"step_20.json", "step_3.json"}, RANKS_ORDER, {1, 0}, NULL},
    {{"alice-3.json", "bob-4.json"}, RANKS_NONE, {0}, NULL},
    {{"", "1"}, RANKS_NONE, {0}, NULL},
    {{"run1/trace_0", "run1/trace_1", "run2/trace_0"}, RANKS_NONE, {0}, NULL}, /* the numbers form no grid, and some appear twice */
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check(&rows[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_number), cmocka_unit_test(several_numbers), cmocka_unit_test(no_ranks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
