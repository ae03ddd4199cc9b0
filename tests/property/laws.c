/* laws.c - laws that hold for every graph, tested with random graphs:
 *
 *     writing twice gives the same bytes                   write(g) = write(g)
 *     reading the output gives the same graph              dump(read(write(g))) = dump(g), in any order of tracks and strings
 *     writing that graph gives the same bytes              write(read(write(g))) = write(g)
 *     whitespace has no meaning                            dump(read(pretty(g))) = dump(read(write(g)))
 *     merging one trace equals writing it                  merge(a) = a
 *     a joined graph is the sum of its parts               dump(join(a, b)) = dump(a) + dump(b), and join is associative
 *     a filter that all events pass changes nothing        filter(g, true) = g
 *     filters are idempotent and compose                   filter(g, a) twice, filter(g, a && b) = filter(filter(g, b), a)
 *     a shift can be undone                                shift(shift(g, d), -d) = g, exact to the picosecond
 *
 * Graphs contain threads and processes with all kinds of identity, nested and overlapping spans, pairs, instants, counters,
 * async spans, flows and args of all types. A failure prints the seed of its graph: SEED=n runs that graph alone. */
#include "../unit/help.h"

#include "format/format.h"
#include "graph/join.h"
#include "op/renumber.h"
#include "graph/args.h"

static uint64_t rng_state;
static uint32_t rng(uint32_t n) {
  rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(rng_state >> 33) % n;
}

/* ---- random graphs ---- */

struct random_graph {
  struct tk_trace *t;
  tk_id threads[8];
  unsigned n_threads;
  bool tidy; /* spans nest */
};

static tk_id text(struct tk_trace *t, const char *prefix, uint32_t n) {
  static const char *const odd[] = {"", "a\"b\\c", "\xf0\x9f\x98\x80", "5", "null", "json.id", "\x01\x1f", "line\nline"};
  bool key = *prefix == 'k' || *prefix == 'c'; /* not the last three: a field, and texts that dumps print unquoted */
  char s[64];
  if (rng(20) == 0) return trace_text(t, odd[rng(LENGTH(odd) - (key ? 3 : 0))]);
  snprintf(s, sizeof s, "%s%u", prefix, rng(n));
  return trace_text(t, s);
}

static struct tk_ident identity(struct tk_trace *t, uint32_t n) {
  switch (rng(8)) {
  case 0: return ident_str(text(t, "p", n));
  case 1: return (struct tk_ident){rng(n) + 100, 0, TK_IDENT_QUOTED};
  case 2: return ident_int((int64_t)1 << 40 | rng(n));
  default: return ident_int((int64_t)rng(n) - 2);
  }
}

/* Adds an arg of a random JSON type. */
static void one_arg(struct tk_trace *t) {
  tk_id key = text(t, "key", 6);
  switch (rng(9)) {
  case 0: args_flag(t, key, TK_ARG_NULL); return;
  case 1: args_flag(t, key, rng(2) ? TK_ARG_TRUE : TK_ARG_FALSE); return;
  case 2: args_int(t, key, (int64_t)((uint64_t)rng(UINT32_MAX) << rng(33)) * (rng(2) ? 1 : -1)); return;
  case 3: args_uint(t, key, TK_ARG_UINT, (uint64_t)INT64_MAX + 1 + rng(1000)); return;
  case 4: args_decimal(t, key, (int64_t)rng(100000) + 1, -1 - (int)rng(20)); return;
  case 5: args_str(t, key, TK_ARG_NUMBER, trace_text(t, rng(2) ? "1e400" : "123456789012345678901234567890.5")); return;
  case 6: args_str(t, key, TK_ARG_JSON, trace_text(t, rng(2) ? "[1,{\"a\":2.50}]" : "{\"x\":[]}")); return;
  default: args_str(t, key, TK_ARG_STR, text(t, "value", 10));
  }
}

static uint32_t some_args(struct tk_trace *t, tk_id id) {
  args_begin(t);
  for (unsigned n = rng(3) ? rng(4) : 0; n > 0; n--) one_arg(t);
  if (id) args_int(t, KEY_ID, (int64_t)id);
  return args_end(t);
}

static struct tk_event *event(struct random_graph *g, enum tk_kind kind, tk_id track, tk_time ts, tk_time dur) {
  struct tk_trace *t = g->t;
  tk_id cls = trace_class(t, text(t, "name", 12), rng(3) ? text(t, "cat", 3) : 0);
  uint32_t args = some_args(t, 0);
  struct tk_event *e = trace_add_event(t);
  *e = (struct tk_event){.ts = ts, .dur = dur, .cls = cls, .track = track, .args = args, .kind = (uint8_t)kind};
  return e;
}

static tk_id thread(struct random_graph *g) { return g->threads[rng(g->n_threads)]; }

/* Adds spans within [from, to), some as begin/end pairs, and nested spans inside them. */
static void nested(struct random_graph *g, tk_id track, tk_time from, tk_time to, unsigned depth) {
  while (from < to && rng(6)) {
    tk_time start = from + rng((uint32_t)(to - from)), end = start + rng((uint32_t)(to - start) + 1);
    bool paired = rng(3) == 0;
    event(g, paired ? TK_EVENT_BEGIN : TK_EVENT_SPAN, track, start, paired ? 0 : end - start);
    if (rng(4) == 0) event(g, TK_EVENT_INSTANT, track, start, 0);
    if (depth < 6 && end > start) nested(g, track, start, end, depth + 1);
    if (paired && rng(30)) {
      struct tk_event *e = event(g, TK_EVENT_END, track, end, 0);
      if (rng(2)) e->cls = trace_class(g->t, 0, 0);
    }
    from = end + rng(3);
  }
}

static void loose(struct random_graph *g) {
  for (unsigned i = rng(40); i > 0; i--) event(g, rng(4) ? TK_EVENT_SPAN : TK_EVENT_INSTANT, thread(g), rng(1000), 0)->dur = 0;
  for (unsigned i = 1; i <= g->t->n_events; i++)
    if (g->t->events[i].kind == TK_EVENT_SPAN) g->t->events[i].dur = rng(300);
}

static void asyncs(struct random_graph *g) {
  struct tk_trace *t = g->t;
  for (unsigned i = rng(8); i > 0; i--) {
    const struct tk_track *k = &t->tracks[thread(g)];
    tk_id track = trace_track(t, TK_TRACK_ASYNCS, k->pid, k->tid, 0), cls = trace_class(t, text(t, "name", 12), text(t, "cat", 3));
    tk_time start = rng(900), end = start + 1 + rng(100);
    for (int part = 0; part < 3; part++) {
      uint32_t args = some_args(t, i);
      if (part == 1 && rng(2)) continue;
      *trace_add_event(t) = (struct tk_event){.ts = part == 0   ? start
                                                    : part == 1 ? (start + end) / 2
                                                                : end,
                                              .cls = cls,
                                              .track = track,
                                              .args = args,
                                              .kind = part == 0   ? TK_EVENT_BEGIN
                                                      : part == 1 ? TK_EVENT_INSTANT
                                                                  : TK_EVENT_END,
                                              .flags = TK_FLAG_ASYNC};
    }
  }
}

static void counters(struct random_graph *g) {
  struct tk_trace *t = g->t;
  tk_id pid = thread(g), name = text(t, "counter", 3);
  tk_id track = trace_track(t, TK_TRACK_COUNTERS, t->tracks[pid].pid, ident_none(), name), cls = trace_class(t, name, 0);
  for (unsigned i = rng(10); i > 0; i--) {
    args_begin(t);
    args_int(t, trace_text(t, "a"), rng(1000));
    if (rng(2)) args_decimal(t, trace_text(t, "b"), rng(1000), -3);
    uint32_t args = args_end(t);
    *trace_add_event(t) = (struct tk_event){.ts = rng(1000), .cls = cls, .track = track, .args = args, .kind = TK_EVENT_COUNTER};
  }
}

static void flows(struct random_graph *g) {
  for (unsigned i = rng(30); i > 0; i--) {
    tk_id cls = trace_class(g->t, text(g->t, "flow", 3), rng(2) ? text(g->t, "cat", 3) : 0);
    uint32_t args = some_args(g->t, 0);
    tk_id str = rng(5) ? 0 : text(g->t, "id", 5);
    struct tk_flow_point *f = trace_add_flow_point(g->t);
    *f = (struct tk_flow_point){.ts = rng(1000),
                          .id = str ? str : rng(6),
                          .id_kind = str ? TK_FLOW_ID_STR : TK_FLOW_ID_INT,
                          .cls = cls,
                          .at = thread(g),
                          .args = args,
                          .role = (uint8_t)rng(3)};
    f->enclosing = f->role == TK_FLOW_END && rng(2);
  }
}

static struct tk_trace *unsealed(uint64_t seed, int64_t origin) {
  struct random_graph g = {.t = trace_new(0)};
  rng_state = seed * 2 + 1;
  for (int i = 0; i < 10; i++) rng(2);
  g.t->origin_ns = origin;
  g.tidy = rng(2);
  g.n_threads = 1 + rng(LENGTH(g.threads));
  for (unsigned i = 0; i < g.n_threads; i++) g.threads[i] = trace_track(g.t, TK_TRACK_THREAD, identity(g.t, 3), identity(g.t, 5), 0);
  if (!g.tidy) loose(&g);
  for (unsigned i = 0; g.tidy && i < g.n_threads; i++) {
    bool again = false; /* two indices may be the same thread */
    for (unsigned k = 0; k < i; k++) again = again || g.threads[k] == g.threads[i];
    if (!again) nested(&g, g.threads[i], 0, 1000, 0);
  }
  asyncs(&g);
  counters(&g);
  flows(&g);
  return g.t;
}

static struct tk_trace *random_trace(uint64_t seed) {
  struct tk_trace *t = unsealed(seed, 5000000);
  struct tk_err err = {0};
  if (!seal(t, 1, &err) || !tk_check(t, &err)) fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  return t;
}

/* ---- comparing ---- */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Returns the lines of a dump, each with its track, with absolute times, sorted; without notes and empty tracks. */
static char *canonical(const struct tk_trace *t) {
  char *dump = dump_of(t), *out = NULL, track[500] = "", **lines = malloc((strlen(dump) / 2 + 1) * sizeof *lines), *save = NULL;
  size_t n = 0, size = 1;
  assert_non_null(lines);
  for (char *line = strtok_r(dump, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char number[64] = "";
    if (strncmp(line, "trace ", 6) == 0 || strncmp(line, "note ", 5) == 0) continue;
    if (strncmp(line, "track ", 6) == 0) {
      snprintf(track, sizeof track, "%s", line);
      continue;
    }
    char *time = line + strcspn(line, "0123456789"), *after;
    if (*line == ' ') time = strpbrk(strpbrk(line + 4, " ") + 1, "-0123456789"); /* after depth and kind */
    if (time[-1] == '-') time--;
    snprintf(number, sizeof number, "%lld", strtoll(time, &after, 10) + (long long)t->origin_ns * 1000);
    char *flow = *line == 'f' ? strstr(after, " -> ") : NULL;
    if (flow) *flow = 0; /* among equal spans the target is ambiguous */
    size_t room = strlen(track) + strlen(line) + sizeof number + 4;
    lines[n] = malloc(room);
    assert_non_null(lines[n]);
    snprintf(lines[n++], room, "%s | %.*s%s%s\n", *line == ' ' ? track : "", (int)(time - line), line, number, after);
    size += room;
  }
  qsort(lines, n, sizeof *lines, by_text);
  out = calloc(size, 1);
  assert_non_null(out);
  char *at = out;
  for (size_t i = 0; i < n; i++) at = stpcpy(at, lines[i]), free(lines[i]);
  free(lines);
  free(dump);
  return out;
}

static void same_graph(const char *law, uint64_t seed, const struct tk_trace *a, const struct tk_trace *b) {
  char where[100], *one = canonical(a), *two = canonical(b);
  snprintf(where, sizeof where, "%s, SEED=%llu", law, (unsigned long long)seed);
  expect(strcmp(one, two) == 0, where, two, one);
  free(one);
  free(two);
}

static void same_bytes(const char *law, uint64_t seed, struct bytes a, struct bytes b) {
  char where[100];
  snprintf(where, sizeof where, "%s, SEED=%llu", law, (unsigned long long)seed);
  expect(a.n == b.n && memcmp(a.p, b.p, a.n) == 0, where, (char *)b.p, (char *)a.p);
}

static struct tk_trace *read_again(const char *law, uint64_t seed, struct bytes b) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){0}, &err);
  if (!t) fail_msg("%s, SEED=%llu: %s", law, (unsigned long long)seed, err.msg);
  return t;
}

/* ---- laws ---- */

static void writing(uint64_t seed) {
  struct tk_trace *g = random_trace(seed), *again, *of_pretty;
  struct bytes once = written(g, false), twice = written(g, false), pretty = written(g, true), stable;
  same_bytes("written twice", seed, once, twice);
  if (!strict_json(once.p, once.n) || !strict_json(pretty.p, pretty.n))
    fail_msg("SEED=%llu: not JSON", (unsigned long long)seed);
  again = read_again("read", seed, once);
  same_graph("read what was written", seed, g, again);
  of_pretty = read_again("read pretty", seed, pretty);
  same_graph("pretty", seed, again, of_pretty);
  stable = written(again, false);
  same_bytes("write, read, write", seed, once, stable);
  free(once.p), free(twice.p), free(pretty.p), free(stable.p);
  tk_free(g), tk_free(again), tk_free(of_pretty);
}

static struct tk_trace *shifted(uint64_t seed, int64_t later_ns) {
  struct tk_trace *t = random_trace(seed);
  t->origin_ns += later_ns;
  return t;
}

static bool every_record(const struct tk_trace *t, const struct tk_record *r) {
  (void)t, (void)r;
  return true;
}

static void join_one(struct tk_trace *to, const struct tk_trace *t, uint64_t seed) {
  struct tk_err err = {0};
  struct join_ids ids = {NULL};
  bool ok = join_graph(to, t, &ids, &err);
  if (ok) join_records(to, t, &ids, every_record);
  join_ids_free(&ids, to);
  if (!ok) fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
}

static struct tk_trace *joined(uint64_t seed, const struct tk_trace *a, const struct tk_trace *b) {
  struct tk_trace *t = trace_new(0);
  struct tk_err err = {0};
  t->sealed = true;
  join_one(t, a, seed);
  join_one(t, b, seed);
  if (!join_finish(t, &err) || !tk_check(t, &err)) fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  return t;
}

/* Returns the lines of both texts, sorted. */
static char *both(char *a, char *b) {
  char *all, *save = NULL, *out, *at, **lines;
  size_t n = 0;
  assert_true(asprintf(&all, "%s%s", a, b) >= 0);
  lines = malloc((strlen(all) + 1) * sizeof *lines);
  at = out = calloc(strlen(all) + 1, 1);
  assert_true(lines && out);
  for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) lines[n++] = line;
  qsort(lines, n, sizeof *lines, by_text);
  for (size_t i = 0; i < n; i++) at = stpcpy(stpcpy(at, lines[i]), "\n");
  free(a), free(b), free(all), free(lines);
  return out;
}

static void joining(uint64_t seed) {
  struct tk_trace *a = random_trace(seed), *b = shifted(seed + 1000003, 7000), *c = shifted(seed + 2000003, -900000);
  struct tk_trace *ab = joined(seed, a, b), *bc = joined(seed, b, c), *left = joined(seed, ab, c), *right = joined(seed, a, bc);
  char *parts = both(canonical(a), canonical(b)), *whole = both(canonical(ab), strdup("")), where[64];
  snprintf(where, sizeof where, "join, SEED=%llu", (unsigned long long)seed);
  expect(strcmp(whole, parts) == 0, where, whole, parts);
  same_graph("join is associative", seed, left, right);
  for (tk_id i = 1; i <= b->n_events; i++) { /* join must not recompute nesting */
    const struct tk_event *was = &b->events[i], *now = &ab->events[a->n_events + i];
    assert_true(was->depth == now->depth && was->dur == now->dur && was->flags == now->flags && was->kind == now->kind);
  }
  free(parts), free(whole);
  tk_free(a), tk_free(b), tk_free(c), tk_free(ab), tk_free(bc), tk_free(left), tk_free(right);
}

/* Checks that merging a single rank keeps processes, times and args; ids are new but still link the same events. */
static void merging(uint64_t seed) {
  struct tk_trace *g = random_trace(seed), *m = random_trace(seed);
  struct mem mem = {0};
  struct merge_ids ids;
  struct merge_pid *was = calloc(m->n_tracks + 1, sizeof *was);
  uint32_t n;
  struct tk_err err = {0};
  const struct merge_place place = {.label = "rank 0 - {process}", .suffix = " [rank 0]"};
  assert_non_null(was);
  renumber_ids_init(&ids, &mem);
  if (!renumber(m, &ids, &place, was, &n, &err) || !tk_check(m, &err))
    fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  assert_int_equal(m->n_events, g->n_events);
  for (tk_id i = 1; i <= m->n_events; i++) {
    const struct tk_event *e = &m->events[i], *f = &g->events[i];
    assert_true(e->ts == f->ts && e->dur == f->dur && e->depth == f->depth && e->kind == f->kind && e->flags == f->flags);
  }
  for (tk_id i = 1; i <= m->n_flow_points; i++)
    for (tk_id k = 1; k <= m->n_flow_points; k++) {
      const struct tk_flow_point *f = &g->flow_points[i], *h = &g->flow_points[k];
      bool were = f->id == h->id && f->id_kind == h->id_kind, are = m->flow_points[i].id == m->flow_points[k].id;
      if (were != are) fail_msg("SEED=%llu: flow ids %u and %u", (unsigned long long)seed, i, k);
    }
  renumber_ids_free(&ids);
  free(was);
  tk_free(g), tk_free(m);
}

/* Returns a graph after filter a, then b if given. */
static struct tk_trace *filtered(uint64_t seed, const char *a, const char *b) {
  struct tk_trace *g = random_trace(seed);
  const char *const first[] = {a, NULL}, *const then[] = {b, NULL};
  struct tk_filter_options of_a = {.where = first}, of_b = {.where = then};
  struct tk_err err = {0};
  if (!tk_filter(g, &of_a, NULL, &err) || (b && !tk_filter(g, &of_b, NULL, &err)) || !tk_check(g, &err))
    fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  return g;
}

static void filtering(uint64_t seed) {
  static const char *const tests[] = {"name =~ '[0-4]$'", "dur > 3us", "cat != 'c1'", "pid == 1 || pid == 2", "arg.key1", "depth < 2"};
  const char *a = tests[seed % LENGTH(tests)], *b = tests[seed / LENGTH(tests) % LENGTH(tests)];
  char both[100];
  snprintf(both, sizeof both, "(%s) && (%s)", a, b);
  struct tk_trace *g = random_trace(seed), *all = filtered(seed, "pid || !pid", NULL), *once = filtered(seed, a, NULL);
  struct tk_trace *twice = filtered(seed, a, a), *at_once = filtered(seed, both, NULL), *in_turn = filtered(seed, b, a);
  bool by_depth = strchr(a, '<') || strchr(b, '<'); /* depths are renumbered: an event at depth 2 may be at depth 1 in the
                                                     * second round */
  same_graph("filter(true)", seed, g, all);
  if (!strchr(a, '<')) same_graph("filter twice", seed, once, twice);
  if (!by_depth) same_graph("filter(a && b)", seed, at_once, in_turn);
  tk_free(g), tk_free(all), tk_free(once), tk_free(twice), tk_free(at_once), tk_free(in_turn);
}

static void moving(uint64_t seed) {
  struct tk_trace *g = random_trace(seed), *m = random_trace(seed);
  tk_time by = (tk_time)rng(1u << 30) * 997 + 1;
  struct tk_rebase_options there = {.shift = by}, back = {.shift = -by};
  struct tk_err err = {0};
  if (!tk_rebase(m, &there, &err) || !tk_check(m, &err)) fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  for (tk_id i = 1; i <= g->n_events; i++) {
    i128 before = (i128)g->origin_ns * 1000 + g->events[i].ts, after = (i128)m->origin_ns * 1000 + m->events[i].ts;
    if (after - before != by) fail_msg("SEED=%llu: event %u", (unsigned long long)seed, i);
  }
  if (!tk_rebase(m, &back, &err)) fail_msg("SEED=%llu: %s", (unsigned long long)seed, err.msg);
  same_graph("there and back", seed, g, m);
  tk_free(g), tk_free(m);
}

static void each_seed(void (*law)(uint64_t seed)) {
  const char *seed = getenv("SEED");
  unsigned n = long_run() ? 5000 : 300;
  if (seed && *seed) {
    law(strtoull(seed, NULL, 10));
    return;
  }
  for (unsigned i = 0; i < n; i++) law(i);
}

static void write_laws(void **state) {
  (void)state;
  each_seed(writing);
}
static void join_laws(void **state) {
  (void)state;
  each_seed(joining);
}
static void merge_laws(void **state) {
  (void)state;
  each_seed(merging);
}
static void filter_laws(void **state) {
  (void)state;
  each_seed(filtering);
}
static void rebase_laws(void **state) {
  (void)state;
  each_seed(moving);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(write_laws), cmocka_unit_test(join_laws), cmocka_unit_test(merge_laws),
    cmocka_unit_test(filter_laws), cmocka_unit_test(rebase_laws),
  };
  return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
