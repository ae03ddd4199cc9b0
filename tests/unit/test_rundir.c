/* test_rundir.c - recognising runs, hosts, ranks, steps and views by name, and choosing which of them to read. */
#include "help.h"

#include "source/rundir.h"

enum { MOST = 32 };
static const int64_t SECOND = 1000000000;

struct listing {
  struct mem mem;
  struct rundir dir;
  struct rundir_file files[MOST];
  uint32_t n;
};

/* Recognises the names; the i-th file is i seconds old. */
static void recognise(struct listing *l, const char *root, bool one, const char *const *names) {
  *l = (struct listing){.n = 0};
  l->dir.text.mem = &l->mem;
  for (; names[l->n]; l->n++) l->files[l->n] = (struct rundir_file){.rel = names[l->n], .time_ns = l->n * SECOND};
  assert_true(rundir_find(&l->dir, l->files, l->n, root, one));
}

static void done(struct listing *l) {
  rundir_free(&l->dir);
  assert_int_equal(l->mem.used, 0);
}

static const struct rundir_run *run_of(const struct listing *l, uint32_t i) { return &l->dir.runs[l->files[i].run]; }

/* Checks which files are chosen as the best view of their host, as a text with '+' for a chosen file: "+-+". */
static void assert_best(const struct listing *l, const char *expected) {
  char found[MOST + 1] = "";
  for (uint32_t i = 0; i < l->n; i++) found[i] = l->files[i].best ? '+' : '-';
  assert_string_equal(found, expected);
}

static void jax(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/home/me/logs", false, (const char *const[]){
    "step_100/plugins/profile/2026_11_20_10_21_49/perfetto_trace.json.gz",
    "step_100/plugins/profile/2026_11_20_10_21_49/vm.trace.json.gz",
    "step_100/plugins/profile/2026_11_20_10_21_49/vm.xplane.pb",
    "step_20/plugins/profile/2026_11_20_10_21_08/a.trace.json.gz",
    "step_20/plugins/profile/2026_11_20_10_21_08/b.xplane.pb.gz",
    "step_20/plugins/profile/2026_11_20_10_21_08/kernel_stats.pb", NULL});
  assert_int_equal(l.dir.n_runs, 2);
  assert_best(&l, "--+++-");
  assert_string_equal(run_of(&l, 2)->name, "2026_11_20_10_21_49");
  assert_string_equal(run_of(&l, 2)->step, "100");
  assert_string_equal(run_of(&l, 3)->step, "20");
  assert_string_equal(l.files[2].host, "vm");
  assert_string_equal(l.files[3].host, "a");
  assert_string_equal(l.files[4].host, "b");
  assert_int_equal(l.files[2].next, 1);
  assert_true(run_of(&l, 0)->time_ns - run_of(&l, 3)->time_ns == 41 * SECOND);
  done(&l);
}

/* A lesser view, such as perfetto_trace.json.gz, is chosen if there is no better one. */
static void lesser_views(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/x/plugins/profile/run1", false, (const char *const[]){"perfetto_trace.json.gz", NULL});
  assert_best(&l, "+");
  assert_string_equal(run_of(&l, 0)->name, "run1");
  done(&l);
  recognise(&l, "/x/plugins/profile/run1", false, (const char *const[]){"perfetto_trace.json.gz", "vm.trace.json.gz", NULL});
  assert_best(&l, "-+");
  assert_string_equal(l.files[1].host, "vm");
  done(&l);
  recognise(&l, "/x/plugins/profile/run1", false, (const char *const[]){"127.0.0.1_9871.xplane.pb", "remote.trace.json.gz", NULL});
  assert_best(&l, "+-");
  done(&l);
  recognise(&l, "/x/plugins/profile/run1", false, (const char *const[]){"remote.trace.json.gz", NULL});
  assert_best(&l, "+");
  done(&l);
  recognise(&l, "/x", false, (const char *const[]){"a.json", "a.json.gz", "b.json.gz", NULL});
  assert_best(&l, "+-+");
  assert_int_equal(l.files[0].next, 1);
  done(&l);
}

static void torch(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/log", false, (const char *const[]){
    "vm_6123.1795171072920024752.pt.trace.json.gz", "vm_6123.1795171072989967842.pt.trace.json.gz",
    "vm_6124.1795171072922874172.pt.trace.json", "vm_6124.1795171072986210197.pt.trace.json",
    "vm_6124.1795171072986210197.pt.trace.json.gz", NULL});
  assert_int_equal(l.dir.n_runs, 2);
  assert_int_equal(l.files[0].run, l.files[2].run);
  assert_int_equal(l.files[1].run, l.files[3].run);
  assert_best(&l, "++++-");
  assert_string_equal(run_of(&l, 0)->name, "2026_11_20_10_37_52");
  assert_string_equal(run_of(&l, 1)->name, "2026_11_20_10_37_52_2");
  assert_string_equal(l.files[0].host, "vm");
  done(&l);
  /* Names with a worker and a time in milliseconds, of two jobs in one folder. The second job is a day later and has other workers. */
  recognise(&l, "/log", false, (const char *const[]){
    "worker0.1650000000000.pt.trace.json", "worker1.1650000003000.pt.trace.json",
    "host_77.1650086400000.pt.trace.json", "host_78.1650086400500.pt.trace.json", NULL});
  assert_int_equal(l.dir.n_runs, 2);
  assert_int_equal(l.files[0].run, l.files[1].run);
  assert_int_equal(l.files[2].run, l.files[3].run);
  assert_int_equal(l.files[1].rank, 1);
  assert_string_equal(l.files[1].host, "");
  done(&l);
  recognise(&l, "/log", false, (const char *const[]){
    "gpu_0.1650000000000.pt.trace.json", "gpu_1.1650000003000.pt.trace.json", "gpu_4321.1650000003000.pt.trace.json", NULL});
  assert_string_equal(l.files[0].host, "");
  assert_string_equal(l.files[1].host, "");
  assert_string_equal(l.files[2].host, "gpu"); /* a host with this name */
  done(&l);
}

static void others(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/data/exp7", false, (const char *const[]){"rank0.json.gz", "rank1.json.gz", "old/rank0.json.gz", NULL});
  assert_int_equal(l.dir.n_runs, 2);
  assert_string_equal(run_of(&l, 0)->name, "exp7");
  assert_string_equal(run_of(&l, 2)->name, "old");
  assert_int_equal(l.files[1].rank, 1);
  assert_true(run_of(&l, 0)->time_ns == SECOND); /* the time of its newest file */
  done(&l);
  recognise(&l, "/data/exp7", false, (const char *const[]){"node0/trace.json", "node1/trace.json", "rank_2/trace.json", NULL});
  assert_int_equal(l.dir.n_runs, 1);
  assert_best(&l, "+++");
  assert_string_equal(l.files[1].host, "node1");
  assert_int_equal(l.files[2].rank, 2);
  done(&l);
  /* An archive with no names from a profiler is one run, and members with the same name are separate traces. */
  recognise(&l, "/tmp/logs.tar.gz", true, (const char *const[]){"a/t.json", "b/t.json", "b/t.json", NULL});
  assert_int_equal(l.dir.n_runs, 1);
  assert_best(&l, "+++");
  assert_string_equal(run_of(&l, 0)->name, "logs");
  done(&l);
}

static void odd(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "", true, (const char *const[]){".xplane.pb", ".pt.trace.json", "99999999999999999999.pt.trace.json", "..", "/", "",
                                                 "a.9999999999999999999.pt.trace.json", "rank99999999999999999999.json", NULL});
  for (uint32_t i = 0; i < l.n; i++) {
    assert_non_null(l.files[i].stem);
    assert_non_null(l.files[i].host);
    assert_true(l.files[i].run < l.dir.n_runs);
  }
  done(&l);
}

static void names(void **state) {
  int64_t rank;
  (void)state;
  assert_true(rundir_compare("rank2", "rank10") < 0);
  assert_true(rundir_compare("rank02", "rank2") == 0 || rundir_compare("rank02", "rank10") < 0);
  assert_true(rundir_compare("a", "b") < 0 && rundir_compare("b", "a") > 0 && rundir_compare("a", "a") == 0);
  assert_true(rundir_compare("a", "ab") < 0 && rundir_compare("", "a") < 0);
  assert_true(rundir_rank("trace_rank-3.json", &rank) && rank == 3);
  assert_true(rundir_rank("worker12_step_4.json", &rank) && rank == 12);
  assert_true(rundir_rank("exp[llama-70b]-rank[7].json", &rank) && rank == 7);
  assert_true(rundir_rank("1760100000.5-TP-3.trace.json.gz", &rank) && rank == 3);
  assert_true(rundir_rank("1760100000.5-TP-13-EP-1.trace.json.gz", &rank) && rank == 13);
  assert_false(rundir_rank("1760100000.5-TP-3-PP-1.trace.json.gz", &rank));
  assert_false(rundir_rank("llama-TP8.json", &rank));
  assert_false(rundir_rank("node1_local_rank3.json", &rank));
  assert_false(rundir_rank("frank3.json", &rank));
  assert_false(rundir_rank("rank.json", &rank));
}

/* A folder for each rank; the rank is in the name of a file in it. */
static void ascend(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/x/run", false, (const char *const[]){
    "h1_4000_20260725180104140_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json",
    "h1_4000_20260725180104140_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
    "h1_4000_20260725180104140_ascend_pt/profiler_info_12.json",
    "h2_4001_20260725180104900_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json.gz",
    "h2_4001_20260725180104900_ascend_pt/profiler_info_3.json",
    "h2_4001_20260725180104900_ascend_pt/PROF_000001_20260725180104_X/mindstudio_profiler_output/msprof_1.json",
    "h1_4000_20260725190104140_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", NULL});
  assert_best(&l, "-+-+--+");
  assert_int_equal(l.files[1].rank, 12);
  assert_int_equal(l.files[3].rank, 3);
  assert_int_equal(l.files[6].rank, -1);
  assert_string_equal(l.files[1].host, "h1");
  assert_int_equal(l.files[1].run, l.files[3].run);
  assert_int_not_equal(l.files[1].run, l.files[6].run); /* the same process, an hour later */
  assert_string_equal(run_of(&l, 1)->name, "2026_07_25_18_01_04");
  done(&l);
  recognise(&l, "/x/h1_4000_20260725180104140_ascend_pt", false, (const char *const[]){
    "ASCEND_PROFILER_OUTPUT/trace_view.json", "ASCEND_PROFILER_OUTPUT/step_trace_time.csv", "profiler_info_7.json", NULL});
  assert_best(&l, "+--");
  assert_int_equal(l.files[0].rank, 7);
  done(&l);
  recognise(&l, "/x", false, (const char *const[]){
    "rank-1_20260725180104140_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json",
    "rank-1_20260725180104140_ascend_ms/profiler_info_1.json",
    "PROF_000001_20260725180104_AA/mindstudio_profiler_output/msprof_20260725.json", NULL});
  assert_int_equal(l.files[0].rank, 1);
  assert_true(l.files[0].best && l.files[2].best);
  done(&l);
}

/* Hosts with separate folders belong to one run if all folders contain a run with the same name. */
static void pods(void **state) {
  struct listing l;
  (void)state;
  recognise(&l, "/x", false, (const char *const[]){
    "pod-0/plugins/profile/2026_02_02_02_40_00/localhost.xplane.pb", "pod-1/plugins/profile/2026_02_02_02_40_00/localhost.xplane.pb",
    "pod-1/plugins/profile/2026_02_02_02_40_00/localhost.trace.json.gz",
    "pod-2/plugins/profile/2026_02_02_03_00_00/localhost.xplane.pb", NULL});
  assert_int_equal(l.dir.n_runs, 2);
  assert_best(&l, "++-+");
  assert_string_equal(l.files[0].host, "pod-0/localhost");
  assert_string_equal(l.files[1].host, "pod-1/localhost");
  assert_int_equal(l.files[1].next, 2);
  assert_string_equal(l.files[3].host, "localhost"); /* alone in its run */
  done(&l);
  recognise(&l, "/x", false, (const char *const[]){
    "a/plugins/profile/2026_02_02_02_40_00/t1.xplane.pb", "b/plugins/profile/2026_02_02_02_40_00/t2.xplane.pb",
    "worker_3/logs/plugins/profile/run1/h.xplane.pb", "worker_4/logs/plugins/profile/run1/h.xplane.pb",
    "exp1/plugins/profile/run1/h.xplane.pb", "exp2/plugins/profile/run1/h.xplane.pb",
    "step_1/plugins/profile/2026_02_02_02_40_00/h.xplane.pb", "step_2/plugins/profile/2026_02_02_02_40_00/h.xplane.pb", NULL});
  assert_int_equal(l.files[0].run, l.files[1].run);
  assert_string_equal(l.files[0].host, "t1");
  assert_int_equal(l.files[2].run, l.files[3].run);
  assert_string_equal(l.files[3].host, "worker_4/h");
  assert_int_not_equal(l.files[4].run, l.files[5].run); /* a name that a user chose, and no participants */
  assert_int_not_equal(l.files[6].run, l.files[7].run);
  done(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(jax),    cmocka_unit_test(lesser_views), cmocka_unit_test(torch),
                                     cmocka_unit_test(others), cmocka_unit_test(odd),          cmocka_unit_test(names),
                                     cmocka_unit_test(ascend), cmocka_unit_test(pods)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
