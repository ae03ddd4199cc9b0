/* test_align_match.c - checks which anchors are matched as one collective: by replica groups, process groups, roots, steps,
 * programs. */
#include "help.h"

#include "align/collect/groups.h"
#include "base/intern.h"
#include "align/apply.h"
#include "align/collect/collect.h"
#include "align/collect/replicas.h"

/* ---- replica groups ---- */

static int group_of(const char *text, uint64_t id) {
  struct replicas r;
  uint64_t group;
  assert_true(replicas_parse(&r, text));
  return replicas_group(&r, id, &group) ? (int)group : -1;
}

static void groups_that_are_listed(void **state) {
  (void)state;
  assert_int_equal(group_of("{{0,1},{2,3}}, use_global_device_ids=true", 1), 0);
  assert_int_equal(group_of("{{0,1},{2,3}}", 2), 1);
  assert_int_equal(group_of("{{0,12},{2,3}}", 12), 0);
  assert_int_equal(group_of("{{0,12},{2,3}}", 1), -1);
  assert_int_equal(group_of("{}", 77), 0); /* all devices form one group */
  assert_int_equal(group_of("{{}}", 77), 0);
  assert_int_equal(group_of("{{5,6,7}}", 5), 0);
}

static void groups_by_iota(void **state) {
  (void)state;
  /* Devices 0..7 as 2 x 4, transposed: 0 4 1 5 2 6 3 7. */
  for (uint64_t id = 0; id < 8; id++) assert_int_equal(group_of("[4,2]<=[2,4]T(1,0), use", id), (int)(id % 4));
  for (uint64_t id = 0; id < 8; id++) assert_int_equal(group_of("[2,4]<=[8]", id), (int)(id / 4));
  /* 2 x 2 x 2 with the middle axis last: 0 2 1 3 4 6 5 7. */
  for (uint64_t id = 0; id < 8; id++) assert_int_equal(group_of("[4,2]<=[2,2,2]T(0,2,1)", id), (int)(id / 4 * 2 + id % 2));
  assert_int_equal(group_of("[4,2]<=[2,4]T(1,0)", 8), -1);
  assert_int_equal(group_of("[1,8]<=[8]", 3), 0);
}

static void groups_by_mesh(void **state) {
  static const char *const same[][2] = {
      {"mesh['a'=2,'b'=4] {'a'}, use", "[4,2]<=[2,4]T(1,0)"}, {"mesh['a'=2,'b'=4] {'b'}", "[2,4]<=[8]"},
      {"mesh['a'=2,'b'=2,'c'=2] {'c','a'}", "[2,4]<=[2,2,2]T(1,2,0)"}, {"mesh['x'=8] {'x'}", "[1,8]<=[8]"},
      {"mesh['x'=8,'y'=1] {'x'}", "{}"}, {"mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b','a'}", "{}"}};
  (void)state;
  for (size_t i = 0; i < LENGTH(same); i++)
    for (uint64_t id = 0; id < 8; id++) assert_int_equal(group_of(same[i][0], id), group_of(same[i][1], id));
}

static void no_groups(void **state) {
  static const char *const bad[] = {"",           "x",           "{",           "{{0,1}",         "{{0,a}}",           "[4,2]",
                                    "[4,2]<=[7]", "[0,2]<=[0]",  "[4,2]<=[8",   "[4,2]<=[2,4]T(1", "[4,2]<=[2,4]T(1,1)",
                                        "[4,2]<=[2,4]T(0,1,2)",
                                    "[4]<=[4]", "mesh[", "mesh['a'=2", "mesh['a'=2]", "mesh['a'=2] {", "mesh['a'=2] {'b'}",
                                    "mesh['a'=2] {'a','a'}", "mesh['a'=2] {}", "mesh['a'=2] {'a'", "mesh['a'=0] {'a'}",
                                    "mesh['a=2] {'a'}", "mesh['a'=2,] {'a'}", "mesh['a'=8] {'a':(1)2}",
                                    "mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}",
                                    "mesh['a'=4294967295,'b'=4294967295] {'a','b'}",
                                    "mesh['a'=2,'b'=2,'c'=2,'d'=2,'e'=2,'f'=2,'g'=2,'h'=2,'i'=2] {'a'}",
                                      "[4,2]<=[2,4]T1,0)", "[99999999999999999999,1]<=[99999999999999999999]"};
  struct replicas r;
  (void)state;
  for (size_t i = 0; i < LENGTH(bad); i++) assert_false(replicas_parse(&r, bad[i]));
}

/* ---- anchors of traces ---- */

struct fleet {
  struct mem mem;
  struct align_anchors a;
  struct align_solution s;
  uint32_t n, host_of[8];
  bool known[8];
};

static void fleet_add_with(struct fleet *f, const char *text, const struct align_op *ops, uint32_t n_ops) {
  struct tk_trace *t = feed_text(text);
  struct arena arena = {.mem = &f->mem};
  struct align_source from = {.input = f->n, .rank = f->n, .ops = ops, .n_ops = n_ops};
  f->a.mem = &f->mem;
  assert_true(align_groups(t, &from, &arena) && align_collect(&f->a, t, &from));
  f->host_of[f->n] = f->n;
  f->known[f->n++] = true;
  arena_free(&arena);
  tk_free(t);
}

static void fleet_add(struct fleet *f, const char *text) { fleet_add_with(f, text, NULL, 0); }

static void fleet_solve(struct fleet *f) {
  struct align_problem p = {.mem = &f->mem, .anchors = &f->a, .host_of = f->host_of, .known = f->known, .n_inputs = f->n,
      .n_hosts = f->n};
  struct tk_err err = {0};
  assert_true(align_solve(&p, &f->s, &err));
}

static void fleet_free(struct fleet *f) {
  align_solution_free(&f->s);
  align_anchors_free(&f->a);
  assert_int_equal(f->mem.used, 0);
}

static char text[1 << 16];
static size_t length;
static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
  va_end(args);
  assert_true(length < sizeof text);
}
static void begin(const char *head) {
  length = 0;
  say("{%s\"baseTimeNanoseconds\":1000000000,\"traceEvents\":[{\"ph\":\"i\",\"name\":\"x\","
      "\"pid\":1,\"tid\":1,\"ts\":0,\"s\":\"t\"}", head);
}
static const char *end(void) {
  say("]}");
  return text;
}
static void kernel(double ts, double dur, const char *name, const char *args) {
  say(",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\","
      "\"pid\":1,\"tid\":7,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"Collective name\":\"%s\"%s}}",
      ts, dur, name, args);
}

/* Each rank's file lists its process groups (pg_config), which is needed because the lists in the args of kernels are abbreviated. Two
 * groups have the same ranks; they are called "3" and "5" on rank 0, "13" and "25" on rank 1. */
static void groups_are_as_the_rank_lists_them(void **state) {
  static const char *const names[2][2] = {{"3", "5"}, {"13", "25"}};
  struct fleet f = {.n = 0};
  char args[200], head[400];
  (void)state;
  for (int rank = 0; rank < 2; rank++) {
    snprintf(head, sizeof head,
        "\"distributedInfo\":{\"rank\":%d,\"pg_config\":[{\"pg_name\":\"%s\",\"ranks\":[0, 1]},{\"pg_name\":\"%s\",\"ranks\":[0,1]}]},",
             rank, names[rank][0], names[rank][1]);
    begin(head);
    for (int i = 0; i < 8; i++) {
      for (int g = 0; g < 2; g++) {
        snprintf(args, sizeof args,
            ",\"Process Group Name\":\"%s\",\"Process Group Ranks\":\"[0, ..., 1]\",\"Group size\":2,\"Seq\":%d", names[rank][g], i);
        kernel(1000 * i + 37 * i * i + 500 * g + rank * 7777 - i % 3 * 100, 90 + i % 3 * 100, "allreduce", args);
      }
    }
    fleet_add(&f, end());
  }
  fleet_solve(&f);
  assert_true(f.s.hosts[1].numbered);
  assert_int_equal(f.s.collectives, 16);
  assert_int_equal(f.s.hosts[1].state, ALIGN_GOOD);
  assert_true(fabs((double)align_offset(&f.s.hosts[1].map, f.s.hosts[1].map.pivot_ns) - 7777e3) < 1);
  fleet_free(&f);
}

/* A broadcast may end on its root before other ranks arrive, so it gives only one bound of the offset. */
static void roots_only_bound(void **state) {
  struct fleet f = {.n = 0};
  char args[200];
  (void)state;
  for (int rank = 0; rank < 2; rank++) {
    begin("");
    for (int i = 0; i < 24; i++) {
      snprintf(args, sizeof args,
          ",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"Group size\":2,\"Rank\":0,\"Seq\":%d", i);
      if (i % 2) kernel(1000 * i + i * i * 7 + rank * 20, 10 + rank * 30, "broadcast", args); /* 0..10 and 20..60 */
      else if (i < 12) kernel(1000 * i + i * i * 7 + 40 * rank, 150 - 40 * rank, "allreduce", args);
    }
    fleet_add(&f, end());
  }
  fleet_solve(&f);
  assert_int_equal(f.s.collectives, 18);
  assert_int_equal(f.s.hosts[1].anchors, 6);
  assert_true(fabs((double)align_offset(&f.s.hosts[1].map, f.s.hosts[1].map.pivot_ns)) < 1);
  assert_true(f.s.hosts[1].bounded && f.s.hosts[1].feasible);
  /* the bounds are wider by the possible drift of the clocks in 20 ms */
  assert_true(fabs(f.s.hosts[1].high_ns - 60e3) < 4e3 && fabs(f.s.hosts[1].low_ns + 110e3) < 4e3);
  assert_int_equal(f.s.before, 0);
  fleet_free(&f);
}

/* If a message ends before it was sent according to the wall clocks, this counts as a contradiction. */
static void messages_bound(void **state) {
  struct fleet f = {.n = 0};
  (void)state;
  for (int rank = 0; rank < 2; rank++) {
    begin("");
    say(",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#4\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1000000}");
    for (int i = 0; i < 5; i++) {
      kernel(9000 + 1000 * i + 130 * i * i + rank * 5000, 100, "allreduce",
             ",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"Group size\":2,\"In msg nelems\":7");
      kernel(9500 + 1000 * i + 130 * i * i - rank * 4000, 100, rank ? "recv" : "send",
             rank ? ",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"Src Rank\":0"
                  : ",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"Dst Rank\":1");
    }
    fleet_add(&f, end());
  }
  fleet_solve(&f);
  assert_true(f.s.hosts[1].stepped);
  assert_int_equal(f.s.collectives, 10);
  assert_true(f.s.before >= 5);
  assert_true(f.s.after >= 5); /* 9 ms too early after the shift: no constant offset can fix that */
  assert_int_equal(f.s.hosts[1].state, ALIGN_POOR);
  fleet_free(&f);
}

/* One rank lacks two of the ten collectives of its step; the other eight are matched by size and order. */
static void steps_with_gaps(void **state) {
  struct fleet f = {.n = 0};
  char args[100];
  (void)state;
  for (int rank = 0; rank < 2; rank++) {
    begin("");
    say(",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#4\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1000000}");
    for (int i = 0; i < 10; i++) {
      static const int sizes[] = {1, 2, 1, 3, 1, 4, 1, 5, 1, 6};
      snprintf(args, sizeof args, ",\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\",\"In msg nelems\":%d", sizes[i]);
      if (rank == 0 || (i != 2 && i != 4)) kernel(1000 * i * i + rank * 33, 200, "allreduce", args);
    }
    fleet_add(&f, end());
  }
  fleet_solve(&f);
  assert_true(f.s.hosts[1].stepped);
  assert_int_equal(f.s.collectives, 8); /* 5 of distinct sizes, 3 of size 1 */
  assert_true(fabs((double)align_offset(&f.s.hosts[1].map, f.s.hosts[1].map.pivot_ns) - 33e3) < 1);
  fleet_free(&f);
}

/* ---- XLA ---- */

struct plane_says {
  const char *groups; /* value of replica_groups= */
  int replica;        /* -1 = not recorded */
  const char *op;     /* opcode of the synchronous op; NULL = all-reduce */
};

/* Irregular delays: every step has a different duration, so that durations cannot be mistaken for a clock. */
static const int late[] = {0, 230, 90, 410, 37, 333, 120, 480, 15, 275, 190, 310};

/* Writes eight executions of one program with a synchronous and an asynchronous all-reduce. The profile of host 1 begins two
 * executions later. */
static void chip(int host, struct plane_says s) {
  begin("");
  say(",{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"/device:TPU:0\"}}");
  for (int line = 0; line < 3; line++)
    say(",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":3,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", line + 1,
        line == 0 ? "XLA Modules" : line == 1 ? "XLA Ops" : "Async XLA Ops");
  for (int run = host * 2; run < 8 + host * 2; run++) {
    double at = run * 1500 + late[run] + host * 5000;
    say(",{\"ph\":\"X\",\"name\":\"jit_f(12190760917235803885)\","
        "\"pid\":3,\"tid\":1,\"ts\":%.3f,\"dur\":900,\"args\":{\"run_id\":%d", at, run + 100 * host);
    if (s.replica >= 0) say(",\"replica_id\":%d", s.replica);
    say("}},{\"ph\":\"X\",\"name\":\"%%op.1 = f32[] %s(f32[] %%p), channel_id=1, replica_groups=%s\","
        "\"pid\":3,\"tid\":2,\"ts\":%.3f,\"dur\":%d}", s.op ? s.op : "all-reduce", s.groups,
        at + 100 - host * 20, 80 + host * 20);
    say(",{\"ph\":\"X\",\"name\":\"%%all-reduce-start.2 = f32[] all-reduce-start(f32[] %%q), replica_groups=%s\","
        "\"pid\":3,\"tid\":2,\"ts\":%.3f,\"dur\":5}",
        s.groups, at + 200);
    say(",{\"ph\":\"X\",\"name\":\"%%all-reduce-done.9 = f32[] all-reduce-done(f32[] %%all-reduce-start.2)\","
        "\"pid\":3,\"tid\":2,\"ts\":%.3f,\"dur\":30}",
        at + 300);
    /* This op had completed long before the core waited for it, so it is not an anchor. The async line repeats the op. */
    say(",{\"ph\":\"X\",\"name\":\"all-gather-done.5\",\"pid\":3,\"tid\":2,\"ts\":%.3f,\"dur\":0.5}", at + 600 + host * 77);
    say(",{\"ph\":\"X\",\"name\":\"all-reduce.7\",\"pid\":3,\"tid\":3,\"ts\":%.3f,\"dur\":30}", at + 700 + host * 55);
  }
}

static struct fleet chips(struct plane_says a, struct plane_says b) {
  struct fleet f = {.n = 0};
  chip(0, a);
  fleet_add(&f, end());
  chip(1, b);
  fleet_add(&f, end());
  f.a.mem = &f.mem;
  return f;
}

static void one_group_is_all(void **state) {
  struct fleet f = chips((struct plane_says){"{{0,1}}, use_global_device_ids=true", -1, NULL},
      (struct plane_says){"{{0,1}}, use_global_device_ids=true", -1, NULL});
  (void)state;
  f.a.mem = &f.mem;
  assert_int_equal(f.a.n, 32);
  fleet_solve(&f);
  f.s.mem = &f.mem;
  assert_true(f.s.hosts[1].executed);
  assert_int_equal(f.s.collectives, 12);
  assert_int_equal(f.s.hosts[1].state, ALIGN_GOOD);
  assert_true(fabs((double)align_offset(&f.s.hosts[1].map, f.s.hosts[1].map.pivot_ns) - 5e6) < 1);
  /* The offset is bounded by the start op, which both hosts reach 130 us before the done op ends, and by the synchronous op. */
  assert_true(f.s.hosts[1].feasible && fabs(f.s.hosts[1].high_ns - 80e3) < 1e3 && fabs(f.s.hosts[1].low_ns + 80e3) < 22e3);
  fleet_free(&f);
}

static void replicas_that_say_who_they_are(void **state) {
  struct fleet same = chips((struct plane_says){"[2,2]<=[2,2]T(1,0)", 0, NULL}, (struct plane_says){"[2,2]<=[2,2]T(1,0)", 2, NULL});
  (void)state;
  same.a.mem = &same.mem;
  fleet_solve(&same);
  assert_int_equal(same.s.hosts[1].state, ALIGN_GOOD);
  same.s.mem = &same.mem;
  fleet_free(&same);
  struct fleet other = chips((struct plane_says){"[2,2]<=[2,2]T(1,0)", 0, NULL}, (struct plane_says){"[2,2]<=[2,2]T(1,0)", 1, NULL});
  other.a.mem = &other.mem;
  fleet_solve(&other);
  assert_int_equal(other.s.hosts[1].state, ALIGN_ALONE);
  assert_int_equal(other.s.collectives, 0);
  other.s.mem = &other.mem;
  fleet_free(&other);
}

/* With a channel, all-to-all runs between partitions, so the replica id of a device does not determine its group. */
static void groups_of_partitions(void **state) {
  struct plane_says says = {"{{0,1},{2,3}}", 0, "all-to-all"};
  struct fleet f = chips(says, says);
  unsigned vague = 0;
  (void)state;
  f.a.mem = &f.mem;
  for (uint32_t i = 0; i < f.a.n; i++) vague += f.a.v[i].says == ALIGN_VAGUE;
  assert_int_equal(f.a.n, 32);
  assert_int_equal(vague, 16);
  fleet_free(&f);
}

static void groups_that_cannot_be_told_apart(void **state) {
  struct fleet f = chips((struct plane_says){"{{0,2},{1,3}}, use_global_device_ids=true", 0, NULL},
      (struct plane_says){"{{0,2},{1,3}}, use_global_device_ids=true", 0, NULL});
  (void)state;
  f.a.mem = &f.mem;
  fleet_solve(&f);
  f.s.mem = &f.mem;
  assert_int_equal(f.s.hosts[1].state, ALIGN_ROUGH); /* the clocks differ by 5 ms, so according to them the devices cannot have been in
                                                      * the same collective */
  assert_true(fabs((double)align_offset(&f.s.hosts[1].map, f.s.hosts[1].map.pivot_ns) - 5e6) < 1);
  assert_false(f.s.hosts[1].bounded);
  fleet_free(&f);
}

/* ---- kernels whose programs describe the collective ---- */

static struct align_op program_op(uint64_t program, const char *name, const char *opcode, const char *groups) {
  return (struct align_op){.module = hash_bytes("jit_f", 5), .program = program, .op = hash_bytes(name, strlen(name)),
                           .opcode = opcode, .groups = groups};
}

/* Twelve kernels of one op on a GPU; `called` is the args that name the program. */
static void gpu(int host, const char *called, const char *op) {
  begin("");
  say(",{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"/device:GPU:0\"}}"
      ",{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":3,\"tid\":1,\"args\":{\"name\":\"Stream #40(Compute)\"}}");
  for (int run = 0; run < 12; run++)
    say(",{\"ph\":\"X\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":3,\"tid\":1,\"ts\":%d,\"dur\":90,"
        "\"args\":{\"hlo_op\":\"%s\"%s}}", run * 1500 + late[run] + host * 5000, op, called);
}

/* Aligns two GPUs. Returns the state of the second one's clock. */
static enum align_state gpus(const char *called, const char *op, const struct align_op *ops, uint32_t n_ops) {
  struct fleet f = {.n = 0};
  for (int host = 0; host < 2; host++) {
    gpu(host, called, op);
    fleet_add_with(&f, end(), ops, n_ops);
  }
  fleet_solve(&f);
  enum align_state state = f.s.hosts[1].state;
  fleet_free(&f);
  return state;
}

#define BOTH ",\"hlo_module\":\"jit_f\",\"program_id\":7"

static void kernels_by_their_program(void **state) {
  struct align_op one = program_op(7, "all-reduce-start.1", "all-reduce", "{{0,1}}");
  struct align_op any = program_op(7, "psum.1", "all-reduce", "{}");
  struct align_op uneven = program_op(7, "psum.1", "ragged-all-to-all", "{}");
  (void)state;
  assert_int_equal(gpus(BOTH, "all-reduce-start.1", &one, 1), ALIGN_GOOD);
  assert_int_equal(gpus(",\"hlo_module\":\"jit_f\"", "all-reduce-start.1", &one, 1), ALIGN_GOOD);
  assert_int_equal(gpus(",\"program_id\":7", "all-reduce-start.1", &one, 1), ALIGN_GOOD);
  assert_int_equal(gpus(BOTH, "all-reduce-start.1", NULL, 0), ALIGN_ROUGH);
  assert_int_equal(gpus(BOTH, "all-reduce-start.2", &one, 1), ALIGN_ROUGH);
  assert_int_equal(gpus(",\"hlo_module\":\"jit_f\",\"program_id\":8", "all-reduce-start.1", &one, 1), ALIGN_ROUGH);
  assert_int_equal(gpus(",\"hlo_module\":\"jit_g\",\"program_id\":7", "all-reduce-start.1", &one, 1), ALIGN_ROUGH);
  /* the program contains the opcode, which the op's name does not show */
  assert_int_equal(gpus(BOTH, "psum.1", &any, 1), ALIGN_GOOD);
  assert_int_equal(gpus(BOTH, "psum.1", NULL, 0), ALIGN_ALONE);
  assert_int_equal(gpus(BOTH, "psum.1", &uneven, 1), ALIGN_ALONE);
}

static void programs_that_do_not_settle_it(void **state) {
  struct align_op several = program_op(7, "all-reduce.1", "all-reduce", "{{0,1},{2,3}}"), global = several;
  struct align_op unknown = program_op(7, "all-reduce.1", "all-reduce", NULL);
  struct align_op two[] = {program_op(7, "all-reduce.1", "all-reduce", "{{0,1}}"),
      program_op(8, "all-reduce.1", "all-reduce", "{{0},{1}}")};
  struct align_op same[] = {two[0], program_op(7, "all-reduce.1", "all-reduce", "{{0},{1}}")};
  (void)state;
  global.global = true;
  assert_int_equal(gpus(BOTH, "all-reduce.1", &several, 1), ALIGN_ROUGH); /* the replica id is unknown */
  assert_int_equal(gpus(BOTH ",\"replica_id\":1", "all-reduce.1", &several, 1), ALIGN_GOOD);
  assert_int_equal(gpus(BOTH ",\"replica_id\":1", "all-reduce.1", &global, 1), ALIGN_ROUGH);
  assert_int_equal(gpus(BOTH, "all-reduce.1", &unknown, 1), ALIGN_ROUGH);
  assert_int_equal(gpus(BOTH, "all-reduce.1", two, 2), ALIGN_GOOD);
  assert_int_equal(gpus(",\"hlo_module\":\"jit_f\"", "all-reduce.1", two, 2), ALIGN_ROUGH); /* two programs match */
  assert_int_equal(gpus(BOTH, "all-reduce.1", same, 2), ALIGN_ROUGH); /* two conflicting entries: files of two processes joined
                                                                       * by cat */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_that_are_listed), cmocka_unit_test(groups_by_iota), cmocka_unit_test(groups_by_mesh),
      cmocka_unit_test(no_groups),
      cmocka_unit_test(groups_are_as_the_rank_lists_them), cmocka_unit_test(roots_only_bound),
      cmocka_unit_test(messages_bound), cmocka_unit_test(steps_with_gaps), cmocka_unit_test(one_group_is_all),
      cmocka_unit_test(replicas_that_say_who_they_are), cmocka_unit_test(groups_that_cannot_be_told_apart),
      cmocka_unit_test(groups_of_partitions), cmocka_unit_test(kernels_by_their_program),
      cmocka_unit_test(programs_that_do_not_settle_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
