/* test_align_claims.c - checks that a solution does not claim more than the data shows, for sequence numbers that contradict the ends
 * of collectives, clock jumps, rows of CPUs, staggered ends, and copies of a rank. */
#include "help.h"

#include <math.h>

#include "align/apply.h"
#include "align/collect/collect.h"
#include "align/copies.h"

enum { RANKS = 8, MOST = 64 };
#define EPOCH INT64_C(1795171072000000000)

/* A job of two hosts; times in us. Host 1's clock is 2,500 us ahead. */
struct job {
  struct mem mem;
  struct align_anchors a;
  struct align_solution s;
  uint32_t host_of[RANKS], each;
  int64_t rank[RANKS];
  uint8_t says;
  double jump_at, jump;     /* host 1's clock */
  double late[MOST][RANKS]; /* delay of each rank in leaving a collective */
};

static double noise(int i, int rank) { return (i * 7919 + rank * 104729) % 13 * 0.2; }

static double reading(const struct job *j, int host, double t) { return t + (host ? 2500 + (t >= j->jump_at ? j->jump : 0) : 0); }

static void add(struct job *j, int i, int rank, double start, double end) {
  int host = rank >= (int)j->each;
  assert_true(mem_grow(j->a.mem, (void **)&j->a.v, &j->a.cap, (uint64_t)j->a.n + 1, sizeof *j->a.v));
  j->a.v[j->a.n++] = (struct align_anchor){.label = 5, .exact = 100 + (uint64_t)i, .input = (uint32_t)rank, .says = j->says,
      .seq = i, .bytes = -1, .start = EPOCH + (int64_t)(reading(j, host, start) * 1e3),
      .end = EPOCH + (int64_t)(reading(j, host, end) * 1e3)};
}

/* Simulates n collectives, with pauses between them that vary by `uneven` us, and estimates the clocks. A rank that leaves a collective
 * late is late for the next one. */
static void run(struct job *j, int n, double pause, double uneven) {
  double free_at[RANKS] = {0};
  struct align_anchors all = {.mem = &j->mem};
  struct tk_err err = {0};
  bool known[RANKS] = {true, true, true, true, true, true, true, true};
  j->a = all;
  j->a.mem = &j->mem;
  for (int i = 0; i < n; i++) {
    double start[RANKS], last = 0;
    for (int r = 0; r < 2 * (int)j->each; r++) {
      start[r] = free_at[r] + pause + uneven * ((i * i * i * 37 + i * 11) % 101) / 101.0 + noise(i * 3, r);
      last = fmax(last, start[r]);
    }
    for (int r = 0; r < 2 * (int)j->each; r++) {
      double end = last + 60 + noise(i, r) + j->late[i][r];
      add(j, i, r, start[r], end);
      free_at[r] = end;
    }
  }
  for (uint32_t r = 0; r < 2 * j->each; r++) j->host_of[r] = r >= j->each, j->rank[r] = r;
  struct align_problem p = {.mem = &j->mem, .anchors = &j->a, .host_of = j->host_of, .known = known, .rank = j->rank,
                            .n_inputs = 2 * j->each, .n_hosts = 2};
  assert_true(align_solve(&p, &j->s, &err));
}

static double offset(const struct job *j) {
  const struct align_map *m = &j->s.hosts[1].map;
  return (double)align_offset(m, m->pivot_ns) / 1e3;
}

static void done(struct job *j) {
  align_solution_free(&j->s);
  align_anchors_free(&j->a);
  assert_int_equal(j->mem.used, 0);
}

/* Host 1 leaves most collectives late by a whole period, so that its ends coincide with the ends of the next collectives on
 * host 0. Sequence numbers must decide, or the clock must not be trusted. */
static void ends_do_not_outvote_numbers(void **state) {
  struct job j = {.each = 1, .says = ALIGN_BARRIER, .jump_at = 1e12};
  (void)state;
  for (int i = 0; i < 24; i++) j.late[i][1] = i % 8 == 7 ? 0 : 420 + i * 53 % 29;
  run(&j, 24, 300, 60);
  const struct align_host *o = &j.s.hosts[1];
  assert_true(o->state == ALIGN_POOR || fabs(offset(&j) - 2500) * 1e3 < o->error_ns);
  if (o->contradicts) assert_true(fabs(o->by_number_ns / 1e3 - 2500) < 500);
  done(&j);
}

static void jumps_leave_gaps(void **state) {
  (void)state;
  for (int back = 0; back < 2; back++) {
    struct job j = {.each = 2, .says = ALIGN_BARRIER, .jump_at = 14000, .jump = back ? -180 : 180};
    run(&j, 40, 600, 300);
    const struct align_host *o = &j.s.hosts[1];
    const int64_t at = EPOCH + (int64_t)(reading(&j, 1, 14000) * 1e3);
    assert_int_equal(o->state, ALIGN_GOOD);
    assert_int_equal(o->n_stretches, 2);
    assert_true(o->gaps[0].error_ns >= 180e3 && o->gaps[0].error_ns < 200e3);
    assert_true(o->gaps[0].from_ns <= at && o->gaps[0].to_ns >= at);
    if (back) assert_true(o->gaps[0].to_ns - o->stretches[1].from_ns > 170000); /* the clock showed these readings twice */
    assert_true(o->error_ns < 10e3);
    done(&j);
  }
}

/* Rows of CPUs with equal keys do not prove that a CPU waited for the others: such a clock stays ALIGN_POOR, without bounds. */
static void rows_of_cpus_prove_nothing(void **state) {
  struct job j = {.each = 2, .says = ALIGN_VAGUE | ALIGN_COARSE, .jump_at = 1e12};
  (void)state;
  run(&j, 32, 600, 300);
  assert_int_equal(j.s.hosts[1].state, ALIGN_POOR);
  assert_false(j.s.hosts[1].bounded);
  done(&j);
}

static void staggers_show_within_hosts(void **state) {
  struct job j = {.each = 4, .says = ALIGN_BARRIER, .jump_at = 1e12};
  (void)state;
  for (int i = 0; i < 32; i++)
    for (int r = 0; r < 8; r++) j.late[i][r] = 5 * r;
  run(&j, 32, 600, 300);
  const struct align_host *o = &j.s.hosts[1];
  assert_int_equal(o->state, ALIGN_GOOD);
  assert_true(fabs(offset(&j) - 2500) > 15); /* the ends of collectives alone cannot show that ranks are staggered, */
  assert_true(fabs(offset(&j) - 2500) * 1e3 <= o->error_ns); /* but the ends on the ranks of one host show it, so the error covers it */
  assert_true(o->error_ns < 40e3);
  assert_true(o->low_ns / 1e3 <= 2500 - offset(&j) && o->high_ns / 1e3 >= 2500 - offset(&j));
  done(&j);
}

static void bounds_hold_if_lateness_grows(void **state) {
  struct job j = {.each = 2, .says = ALIGN_BARRIER, .jump_at = 1e12};
  (void)state;
  for (int i = 0; i < 48; i++)
    for (int r = 2; r < 4; r++) j.late[i][r] = 2.0 * i;
  run(&j, 48, 600, 300);
  const struct align_host *o = &j.s.hosts[1];
  const struct align_map *m = &o->map;
  for (uint32_t i = 0; o->bounded && i < j.a.n; i++) {
    if (j.host_of[j.a.v[i].input] == 0) continue;
    double off = 2500 - (double)align_offset(m, j.a.v[i].end) / 1e3;
    assert_true(o->low_ns / 1e3 - 0.1 <= off && o->high_ns / 1e3 + 0.1 >= off);
  }
  done(&j);
}

static void copies_are_known(void **state) {
  struct job j = {.each = 2, .says = ALIGN_BARRIER, .jump_at = 1e12};
  struct align_input inputs[5];
  (void)state;
  run(&j, 12, 600, 300);
  align_solution_free(&j.s);
  memset(inputs, 0, sizeof inputs);
  for (uint32_t i = 0; i < 4; i++) inputs[i] = (struct align_input){.host = i < 2 ? "a" : "b", .rank = i, .read = true, .stated = true};
  inputs[4] = (struct align_input){.host = "c", .rank = 3, .read = true, .stated = true};
  uint32_t n = j.a.n;
  struct align_anchors sorted = {.mem = &j.mem};
  for (uint32_t input = 0; input < 5; input++) {
    for (uint32_t i = 0; i < n; i++) {
      if (j.a.v[i].input != (input < 4 ? input : 3)) continue;
      assert_true(mem_grow(&j.mem, (void **)&sorted.v, &sorted.cap, (uint64_t)sorted.n + 1, sizeof *sorted.v));
      sorted.v[sorted.n] = j.a.v[i];
      sorted.v[sorted.n].input = input;
      if (input == 4) sorted.v[sorted.n].start += 7000000, sorted.v[sorted.n].end += 7000000;
      sorted.n++;
    }
  }
  assert_true(copies_find(inputs, 5, &sorted));
  for (int i = 0; i < 4; i++) assert_int_equal(inputs[i].copy_of, 0);
  assert_int_equal(inputs[4].copy_of, 4);
  assert_int_equal(inputs[4].copy_ns, 7000000);
  inputs[4].copy_of = 0;
  sorted.v[sorted.n - 1].start--; /* another recording */
  assert_true(copies_find(inputs, 5, &sorted));
  assert_int_equal(inputs[4].copy_of, 0);
  mem_free(&j.mem, sorted.v);
  align_anchors_free(&j.a);
  assert_int_equal(j.mem.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_do_not_outvote_numbers), cmocka_unit_test(jumps_leave_gaps), cmocka_unit_test(rows_of_cpus_prove_nothing),
      cmocka_unit_test(staggers_show_within_hosts), cmocka_unit_test(bounds_hold_if_lateness_grows), cmocka_unit_test(copies_are_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
