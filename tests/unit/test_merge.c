/* test_merge.c - merging ranks onto one timeline: the resulting pids, ids, names and times, and errors. */
#include "help.h"

#include <unistd.h>

static char dir[] = "/tmp/tracekit-merge-XXXXXX";

static int make_dir(void **state) {
  (void)state;
  return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
  char command[100];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command);
}

/* ---- merging texts ---- */

enum { MOST = 8 };
/* True if the error is about input data or a limit, and not about the call or the output. */
static bool is_of_input(const struct tk_err *err) {
  return err->code >= TK_EOPEN && err->code <= TK_ELIMIT;
}

struct merged {
  bool ok;
  struct tk_err err;
  struct tk_merge_report *report;
  struct tk_trace *t; /* the output, read back */
  char *text;         /* the output as text */
};

struct inputs {
  char text[MOST][100];
  const char *paths[MOST];
};

static void write_inputs(struct inputs *in, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    snprintf(in->text[i], sizeof in->text[i], "%s/in%zu.json", dir, i);
    in->paths[i] = in->text[i];
    FILE *f = fopen(in->paths[i], "wb");
    assert_non_null(f);
    assert_true(fputs(texts[i], f) >= 0);
    fclose(f);
  }
}

static struct merged merge(const char *const *texts, size_t n, struct tk_merge_options opt) {
  struct merged m = {0};
  struct inputs in;
  char output[100];
  write_inputs(&in, texts, n);
  snprintf(output, sizeof output, "%s/out.json", dir);
  unlink(output);
  opt.save.command = "test";
  opt.load.check = true;
  m.ok = tk_merge(in.paths, n, output, &opt, &m.report, &m.err);
  if (m.ok) {
    struct bytes b = read_whole(output);
    struct tk_err err;
    assert_non_null(b.p);
    assert_true(strict_json(b.p, b.n));
    m.text = (char *)b.p;
    m.t = tk_load(output, &(struct tk_load_options){.check = true}, &err);
    assert_non_null(m.t);
  } else {
    assert_true(access(output, F_OK) != 0); /* no partial output */
    assert_true(m.err.code != TK_OK && m.err.msg[0]);
  }
  return m;
}

static void done(struct merged *m) {
  tk_merge_report_free(m->report);
  tk_free(m->t);
  free(m->text);
}

static const struct tk_track *process(const struct tk_trace *t, int64_t pid) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS && trace_ident_equal(t->tracks[i].pid, ident_int(pid))) return &t->tracks[i];
  return NULL;
}

static const struct tk_event *event(const struct tk_trace *t, const char *name) {
  for (tk_id i = 1; i <= t->n_events; i++)
    if (strcmp(tk_string(t, t->classes[t->events[i].cls].name, NULL), name) == 0) return &t->events[i];
  return NULL;
}

static bool noted(const struct tk_merge_report *r, const char *text) {
  for (size_t i = 0; i < r->notes->n; i++)
    if (strstr(r->notes->list[i].text, text)) return true;
  return false;
}

#define RANK(r, events) "{\"distributedInfo\":{\"rank\":" #r "},\"traceEvents\":[" events "]}"
#define RANK_AT(r, base, events)                                                                                               \
  "{\"distributedInfo\":{\"rank\":" #r "},\"baseTimeNanoseconds\":" #base ",\"traceEvents\":[" events "]}"
#define X(pid, ts, name) "{\"ph\":\"X\",\"pid\":" #pid ",\"tid\":7,\"ts\":" #ts ",\"dur\":5,\"name\":\"" name "\"}"
#define NAME(pid, name) "{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_name\",\"args\":{\"name\":\"" name "\"}}"
#define LABEL(pid, name) "{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_labels\",\"args\":{\"labels\":\"" name "\"}}"
#define SORT(pid, at) "{\"ph\":\"M\",\"pid\":" #pid ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" #at "}}"

/* ---- processes ---- */

static void pids(void **state) {
  static const char *const in[] = {RANK(0, X(1, 0, "a") "," X(2, 0, "b")), RANK(1, X(1, 0, "c") "," X(3, 0, "d")),
                                   RANK(2, X(1, 0, "e") "," X(10000000, 0, "f"))};
  struct merged m = merge(in, 3, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_int_equal(m.t->n_events, 6);
  static const struct {
    const char *name;
    int64_t pid;
  } want[] = {{"a", 1}, {"b", 2}, {"c", 10000000}, {"d", 3}, {"e", 10000001}};
  for (size_t i = 0; i < LENGTH(want); i++) {
    const struct tk_track *k = &m.t->tracks[event(m.t, want[i].name)->track];
    if (!trace_ident_equal(k->pid, ident_int(want[i].pid))) fail_msg("%s: pid %lld", want[i].name, (long long)k->pid.num);
    assert_int_equal(k->tid.num, 7);
  }
  int64_t f = m.t->tracks[event(m.t, "f")->track].pid.num;
  assert_true(f > 10000001); /* its own pid was already taken */
  assert_non_null(strstr(m.text, "\"pids\":{\"1\":10000000,\"3\":3}"));
  done(&m);
}

static void string_pids(void **state) {
  struct merged m =
      merge((const char *const[]){RANK(0, "{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"x\",\"ts\":0,\"dur\":1,\"name\":\"a\"}"),
                                  RANK(1, "{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"x\",\"ts\":0,\"dur\":1,\"name\":\"b\"}")},
            2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  const struct tk_track *a = &m.t->tracks[event(m.t, "a")->track], *b = &m.t->tracks[event(m.t, "b")->track];
  assert_string_equal(tk_string(m.t, a->pid.str, NULL), "Spans [rank 0]");
  assert_string_equal(tk_string(m.t, b->pid.str, NULL), "Spans [rank 1]");
  assert_string_equal(tk_string(m.t, b->tid.str, NULL), "x");
  done(&m);
}

static void names(void **state) {
  static const char *const in[] = {RANK(0, NAME(1, "python") "," LABEL(1, "CPU") "," X(1, 0, "a") "," NAME(
                                               2, "python") "," LABEL(2, "GPU 0") "," X(2, 0, "b") "," X(3, 0, "c")),
                                   RANK(3, NAME(1, "python") "," LABEL(1, "CPU") "," X(1, 0, "d"))};
  static const struct { const char *event, *name; } want[] = {
    {"a", "rank 0 - python (CPU)"}, {"b", "rank 0 - GPU 0"}, {"c", "rank 0 - pid 3"}, {"d", "rank 3 - python (CPU)"}};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  for (size_t i = 0; i < LENGTH(want); i++) {
    const struct tk_track *k = &m.t->tracks[m.t->tracks[event(m.t, want[i].event)->track].parent];
    assert_string_equal(tk_string(m.t, k->name, NULL), want[i].name);
  }
  done(&m);
}

/* Processes are sorted by rank, whatever the order of inputs, and within a rank by the rank's own sort indices; processes without a
 * sort index come last. */
static void sort(void **state) {
  static const char *const in[] = {
      RANK(1, SORT(5, -10) "," X(5, 0, "b0") "," SORT(6, 99999999) "," X(6, 0, "b1") "," X(7, 0, "b2")),
      RANK(0, SORT(1, 7) "," X(1, 0, "a1") "," SORT(2, 3) "," X(2, 0, "a0"))};
  static const char *const order[] = {"a0", "a1", "b0", "b1", "b2"};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  int64_t last = INT64_MIN;
  (void)state;
  assert_true(m.ok);
  for (size_t i = 0; i < LENGTH(order); i++) {
    const struct tk_track *k = &m.t->tracks[m.t->tracks[event(m.t, order[i])->track].parent];
    assert_true(k->has_sort);
    if (k->sort_index <= last) fail_msg("%s: %lld after %lld", order[i], (long long)k->sort_index, (long long)last);
    last = k->sort_index;
  }
  done(&m);
}

/* Checks the order of process names by row. */
static void rows(const struct merged *m, const char *const *want, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const struct tk_track *before = NULL, *k = NULL;
    for (tk_id j = 1; j <= m->t->n_tracks; j++) {
      const struct tk_track *t = &m->t->tracks[j];
      if (t->kind == TK_TRACK_PROCESS && strcmp(tk_string(m->t, t->name, NULL), want[i]) == 0) k = t;
      if (i && t->kind == TK_TRACK_PROCESS && strcmp(tk_string(m->t, t->name, NULL), want[i - 1]) == 0) before = t;
    }
    if (!k || !k->has_sort) fail_msg("no process is called '%s'", want[i]);
    assert_in_range(k->sort_index, 0, INT32_MAX);
    if (before && before->sort_index >= k->sort_index) fail_msg("%s stands behind %s", want[i - 1], want[i]);
  }
}

#define KINETO(r, host)                                                                                                        \
  "{\"distributedInfo\":{\"rank\":" #r "},\"host_name\":\"" host                                                               \
  "\",\"traceEvents\":[" NAME(1, "python") "," LABEL(1, "CPU") "," X(1, 0, "a") "," NAME(2, "python") "," LABEL(               \
      2, "GPU 0") "," X(2, 0, "b") ",{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":1,\"ts\":0,"                                      \
                                   "\"dur\":1,\"name\":\"c\"}]}"

static const char *const FOUR[] = {KINETO(2, "Z"), KINETO(1, "B"), KINETO(3, "B"), KINETO(0, "Z")};

static void by_host(void **state) {
  static const char *const want[] = {"0@Z GPU 0", "2@Z GPU 0", "1@B GPU 0", "3@B GPU 0"};
  struct merged m = merge(FOUR, 4, (struct tk_merge_options){.group_by = TK_GROUP_HOST, .label = "{rank}@{host} {process}"});
  (void)state;
  assert_true(m.ok);
  rows(&m, want, LENGTH(want));
  done(&m);
  m = merge(FOUR, 4,
            (struct tk_merge_options){ .group_by = TK_GROUP_HOST, .label = "{rank}@{host} {process}", .align = TK_ALIGN_NONE });
  rows(&m, want, LENGTH(want));
  done(&m);
}

static void by_kind(void **state) {
  static const char *const want[] = { "0 python (CPU)", "1 python (CPU)", "2 python (CPU)", "3 python (CPU)",
                                      "0 GPU 0",        "1 GPU 0",        "2 GPU 0",        "3 GPU 0",
                                      "0 Spans",        "1 Spans",        "2 Spans",        "3 Spans" };
  struct merged m = merge(FOUR, 4, (struct tk_merge_options){.group_by = TK_GROUP_KIND, .label = "{rank} {process}"});
  (void)state;
  assert_true(m.ok);
  rows(&m, want, LENGTH(want));
  done(&m);
}

/* A file may claim any rank, but sort indices must stay within 32 bits. */
static void far_ranks(void **state) {
  static const char *const in[] = {KINETO(9000000000000000, "A"), KINETO(5, "B")};
  static const char *const want[] = {"5 GPU 0", "9000000000000000 GPU 0"};
  (void)state;
  for (int by = TK_GROUP_RANK; by <= TK_GROUP_KIND; by++) {
    struct merged m = merge(in, 2, (struct tk_merge_options){.group_by = (enum tk_group_by)by, .label = "{rank} {process}"});
    assert_true(m.ok);
    rows(&m, want, LENGTH(want));
    done(&m);
  }
}

static void one_labelled(void **state) {
  static const char *const want[] = {"rank 2 of Z"};
  struct merged m = merge(FOUR, 1, (struct tk_merge_options){.label = "rank {rank} of {host}"});
  (void)state;
  assert_true(m.ok);
  rows(&m, want, 1);
  done(&m);
}

/* If a trace of Kineto declares 8 GPUs and only one has events, the others get no row, but their records are kept. */
static void hidden(void **state) {
  static const char *const in[] = {RANK(0, X(1, 0, "a") "," NAME(20, "unused")),
                                   RANK(1, X(2, 0, "b") "," NAME(21, "also unused"))};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_null(process(m.t, 20));
  assert_null(process(m.t, 21));
  assert_int_equal(m.report->ranks[0].hidden_processes, 1);
  assert_int_equal(m.report->ranks[0].processes, 1);
  assert_non_null(strstr(m.text, "\"also unused\""));
  done(&m);
}

/* ---- ids ---- */

#define FLOW(ph, id, ts)                                                                                                       \
  "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":7,\"ts\":" #ts ",\"id\":" id ",\"name\":\"f\",\"cat\":\"c\",\"bp\":\"e\"}"
#define ASYNC(ph, id, ts) "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":7,\"ts\":" #ts ",\"name\":\"as\",\"cat\":\"c\"," id "}"

static void flow_ids(void **state) {
  static const char rank[] =
      RANK(0, X(1, 0, "a") "," FLOW("s", "5", 1) "," FLOW("f", "5", 2) "," FLOW("s", "\"5\"", 3) "," FLOW(
                  "f", "\"5\"",
                  4) ",{\"ph\":\"X\",\"pid\":1,\"tid\":8,\"ts\":1,\"dur\":1,\"name\":\"o\",\"bind_id\":9,\"flow_out\":true}"
                     ",{\"ph\":\"X\",\"pid\":1,\"tid\":8,\"ts\":4,\"dur\":1,\"name\":\"i\",\"bind_id\":9,\"flow_in\":true}");
  static const char *const in[] = {rank, rank, rank};
  struct merged m = merge(in, 3, (struct tk_merge_options){0});
  struct tk_summary s;
  (void)state;
  assert_true(m.ok);
  assert_int_equal(m.t->n_flow_points, 18);
  assert_true(tk_summarise(m.t, &s, NULL));
  assert_int_equal(s.flow_pairs, 9); /* as many as before, none between ranks */
  assert_int_equal(s.dangling_points, 0);
  for (tk_id i = 1; i <= m.t->n_flow_points; i++) {
    const struct tk_flow_point *f = &m.t->flow_points[i];
    for (tk_id k = 1; k <= m.t->n_flow_points; k++) {
      const struct tk_flow_point *g = &m.t->flow_points[k];
      tk_id p = m.t->tracks[tk_flow_point_track(m.t, f)].parent, q = m.t->tracks[tk_flow_point_track(m.t, g)].parent;
      if (f->id == g->id && f->id_kind == g->id_kind && f->cls == g->cls) assert_int_equal(p, q);
    }
  }
  done(&m);
}

static void async_ids(void **state) {
  static const char *const ids[] = {"\"id\":1", "\"id\":\"0x1\"", "\"id2\":{\"global\":\"0x1\"}",
                                    "\"id2\":{\"local\":\"0x1\"}"};
  (void)state;
  for (size_t i = 0; i < LENGTH(ids); i++) {
    char texts[2][600];
    const char *in[] = {texts[0], texts[1]};
    for (int r = 0; r < 2; r++)
      snprintf(texts[r], sizeof texts[r],
               "{\"distributedInfo\":{\"rank\":%d},\"traceEvents\":[{\"ph\":\"b\",\"pid\":1,\"tid\":7,\"ts\":%d,\"name\":"
               "\"as\",\"cat\":\"c\",%s,\"args\":{\"id\":77}},"
               "{\"ph\":\"n\",\"pid\":1,\"tid\":7,\"ts\":%d,\"name\":\"as\",\"cat\":\"c\",%s},{\"ph\":\"e\",\"pid\":1,\"tid\":"
               "7,\"ts\":%d,\"name\":\"as\",\"cat\":\"c\",%s}]}",
               r, 10 + r, ids[i], 15 + r, ids[i], 20 + r * 10, ids[i]);
    struct merged m = merge(in, 2, (struct tk_merge_options){0});
    assert_true(m.ok);
    assert_int_equal(m.t->n_events, 4);
    assert_int_equal(m.t->n_notes, 0);
    for (tk_id k = 1; k <= m.t->n_events; k++) {
      const struct tk_event *e = &m.t->events[k];
      struct tk_arg arg;
      if (e->kind != TK_EVENT_SPAN) continue;
      if (e->dur != 10000000 && e->dur != 19000000) fail_msg("%s: paired across ranks: dur %lld", ids[i], (long long)e->dur);
      assert_false(e->flags & TK_FLAG_UNFINISHED);
      assert_true(tk_args_find(m.t, e->args, "id", &arg) && arg.i == 77); /* args are never rewritten */
    }
    done(&m);
  }
}

/* ---- times ---- */

static int64_t absolute(const struct tk_trace *t, const char *name) { return t->origin_ns * 1 + event(t, name)->ts / 1000; }

static void base_times(void **state) {
  static const char *const in[] = {RANK_AT(0, 1700000000000000000, X(1, 10, "a")),
                                   RANK_AT(1, 1700000002500000000, X(1, 10, "b"))};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_int_equal(m.t->zero_ns, 1700000000000000000);
  assert_int_equal(absolute(m.t, "a"), 1700000000000010000);
  assert_int_equal(absolute(m.t, "b"), 1700000002500010000);
  assert_int_equal(m.report->ranks[1].shift_ns, 2500000000);
  done(&m);
  m = merge(in, 2, (struct tk_merge_options){.align = TK_ALIGN_NONE});
  assert_int_equal(absolute(m.t, "b"), 1700000000000010000); /* as printed */
  done(&m);
}

static void unknown_clock(void **state) {
  static const char *const in[] = {RANK_AT(0, 1700000000000000000, X(1, 10, "a")), RANK(1, X(1, 10, "b"))};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_true(noted(m.report, "clock"));
  assert_int_equal(absolute(m.t, "b"), absolute(m.t, "a"));
  done(&m);
}

/* Absolute times are known for both traces: one has a time base, the other has epoch microseconds. */
static void base_and_epoch(void **state) {
  static const char *const in[] = {RANK_AT(0, 1700000000000000000, X(1, 10, "a")), RANK(1, X(1, 1700000001000000.5, "b"))};
  (void)state;
  for (int order = 0; order < 2; order++) {
    struct merged m = merge((const char *const[]){in[order], in[!order]}, 2, (struct tk_merge_options){0});
    assert_true(m.ok);
    assert_int_equal(absolute(m.t, "a"), 1700000000000010000);
    assert_int_equal(absolute(m.t, "b"), 1700000001000000500);
    done(&m);
  }
}

/* ---- ranks ---- */

static void ranks(void **state) {
  static const char *const in[] = {RANK(4, X(1, 0, "a")), RANK(4, X(1, 1, "b")), "[" X(1, 0, "c") "]"};
  struct merged m = merge(in, 3, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_int_equal(m.report->ranks[0].rank, 4);
  assert_string_equal(m.report->ranks[0].rank_from, "distributedInfo");
  assert_string_equal(m.report->ranks[2].rank_from, "input order");
  assert_true(noted(m.report, "claims the same rank 4"));
  assert_true(noted(m.report, "contains no rank"));
  assert_false(noted(m.report, "same content"));
  done(&m);
  m = merge((const char *const[]){in[0], in[0]}, 2, (struct tk_merge_options){0});
  assert_true(noted(m.report, "same content"));
  done(&m);
}

/* Two inputs each claim rank 0 and rank 1, because hosts number their ranks: a changed rank becomes one that no input claims. */
static void same_ranks(void **state) {
  static const char *const in[] = {RANK(0, X(1, 0, "a")), RANK(0, X(1, 1, "b")), RANK(1, X(1, 2, "c")), RANK(1, X(1, 3, "d"))};
  static const char *const machines[] = {"rank 0", "rank 0, 2", "rank 1", "rank 1, 3"};
  struct merged m = merge(in, 4, (struct tk_merge_options){.label = "rank {rank}"});
  size_t notes = 0;
  (void)state;
  for (size_t i = 0; i < m.report->notes->n; i++) notes += strstr(m.report->notes->list[i].text, "claims the same rank") != NULL;
  assert_int_equal(notes, 2);
  for (size_t i = 0, k; i < 4; i++) {
    for (k = 1; k <= m.t->n_tracks && strcmp(tk_string(m.t, m.t->tracks[k].name, NULL), machines[i]);) k++;
    if (k > m.t->n_tracks) fail_msg("no process is called '%s'", machines[i]);
  }
  done(&m);
}

/* ---- unchanged parts ---- */

/* Checks that merging a single input gives the same as converting it. */
static void one(const char *path, struct bytes b) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){0}, &err);
  if (!t || t->truncated) {
    tk_free(t);
    return;
  }
  char *text = malloc(b.n + 1);
  memcpy(text, b.p, b.n);
  text[b.n] = 0;
  if (strlen(text) == b.n) {
    struct merged m = merge((const char *const[]){text}, 1, (struct tk_merge_options){0});
    if (!m.ok) fail_msg("%s: %s", path, m.err.msg);
    struct bytes plain = written(t, false);
    size_t same = 0, end = plain.n > 4 ? plain.n - 4 : 0; /* except the tracekit metadata after the events */
    while (same < end && plain.p[same] == (uint8_t)m.text[same]) same++;
    if (same < end) expect(false, path, m.text, (char *)plain.p);
    free(plain.p);
    done(&m);
  }
  free(text);
  tk_free(t);
}

static void one_input(void **state) {
  (void)state;
  each_fixture("nasty/json", 100000, one);
  each_fixture("json/viz", 100000, one);
}

static void metadata(void **state) {
  static const char *const in[] = {
      "{\"distributedInfo\":{\"rank\":0},\"k\":\"zero\",\"traceEvents\":[" X(1, 0, "a") "]}",
      "{\"distributedInfo\":{\"rank\":1},\"k\":\"one\",\"traceEvents\":[" X(1, 0, "b") ",{\"ph\":\"q\",\"pid\":1}]}"};
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  (void)state;
  assert_true(m.ok);
  assert_ptr_equal(strstr(m.text, "\"k\":\"zero\""), strstr(m.text, "\"k\":"));
  const char *events = strstr(m.text, "\"traceEvents\""), *other = strstr(m.text, "\"k\":\"one\"");
  assert_true(events && other && other > events);
  assert_int_equal(m.t->n_records - m.t->counts.by_phase['M'], 1);
  done(&m);
}

/* ---- refusals ---- */

static void refusals(void **state) {
  static const char whole[] = RANK(0, X(1, 0, "a")),
                    cut[] = "{\"distributedInfo\":{\"rank\":1},\"traceEvents\":[" X(1, 0, "b") ",{\"ph\":\"X\",\"pid\"";
  static const char *const bad[] = {cut, "not a trace", ""};
  (void)state;
  for (size_t i = 0; i < LENGTH(bad); i++) {
    for (int first = 0; first < 2; first++) {
      const char *const in[] = {first ? bad[i] : whole, first ? whole : bad[i], whole};
      struct merged m = merge(in, 3, (struct tk_merge_options){0});
      assert_false(m.ok);
      assert_true(is_of_input(&m.err));
      assert_non_null(strstr(m.err.msg, first ? "in0.json" : "in1.json"));
      assert_int_equal(m.err.option, TK_OPTION_KEEP_GOING);
      done(&m);
      m = merge(in, 3, (struct tk_merge_options){.keep_going = true});
      assert_true(m.ok);
      assert_int_equal(m.t->n_events, 2);
      assert_non_null(m.report->ranks[first ? 0 : 1].failed);
      assert_null(m.report->ranks[2].failed);
      done(&m);
    }
  }
  struct merged m = merge((const char *const[]){cut, ""}, 2, (struct tk_merge_options){.keep_going = true});
  assert_false(m.ok);
  done(&m);
  m = merge(NULL, 0, (struct tk_merge_options){0});
  assert_false(m.ok);
  assert_int_equal(m.err.code, TK_EUSAGE);
  done(&m);
  m = merge((const char *const[]){whole, RANK(1, "{\"ph\":\"X\",\"ts\":0}")}, 2,
            (struct tk_merge_options){.load.strict = true});
  assert_false(m.ok);
  assert_int_equal(m.err.code, TK_ECORRUPT);
  done(&m);
}

/* If a memory limit is too small, merging fails with TK_ELIMIT and writes nothing. */
static void out_of_memory(void **state) {
  static const char *const in[] = {RANK(0, X(1, 0, "a") "," FLOW("s", "5", 1)), RANK(1, X(1, 0, "b") "," FLOW("s", "5", 1))};
  (void)state;
  for (uint64_t limit = 1000; limit < 3000000; limit += limit / 4) {
    struct merged m = merge(in, 2, (struct tk_merge_options){.load.max_memory = limit});
    if (!m.ok) assert_int_equal(m.err.code, TK_ELIMIT);
    done(&m);
  }
}

/* ---- joined in memory ---- */

static struct tk_trace *load_all(const char *const *texts, size_t n, struct tk_load_options opt, struct tk_err *err) {
  struct inputs in;
  write_inputs(&in, texts, n);
  struct tk_sources *sources = tk_sources_open(in.paths, n, NULL, err);
  assert_non_null(sources);
  opt.check = true;
  struct tk_trace *t = tk_sources_load_all(sources, "all", &opt, err);
  tk_sources_close(sources);
  return t;
}

static const char *meta(const struct tk_trace *t, const char *key) {
  const struct tk_meta *m = trace_meta(t, key);
  return m ? trace_raw(t, m->at) : "";
}

/* The joined graph equals the graph read from the merged file. */
static void joined(void **state) {
  static const char *const in[] = {
    "{\"distributedInfo\":{\"rank\":0},\"k\":\"zero\",\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}}," X(1, 0, "a") "," FLOW("s", "5",
                                                                                                               1) "]}",
    "{\"distributedInfo\":{\"rank\":1},\"k\":\"one\",\"traceEvents\":[" X(1, 0, "b") "," FLOW(
        "s", "5", 1) ",{\"ph\":\"q\",\"pid\":1},"
                     "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,\"args\":{\"name\":\"without events\"}}]}"
  };
  struct merged m = merge(in, 2, (struct tk_merge_options){0});
  struct tk_err err = {0};
  struct tk_trace *t = load_all(in, 2, (struct tk_load_options){0}, &err);
  (void)state;
  assert_true(m.ok);
  assert_non_null(t);
  assert_string_equal(t->source, "all");
  assert_string_equal(t->format, m.t->format);
  assert_int_equal(t->n_events, m.t->n_events);
  assert_int_equal(t->n_records, m.t->n_records);
  assert_int_equal(t->n_flow_points, 2);
  assert_true(t->flow_points[1].id != t->flow_points[2].id);
  assert_string_equal(meta(t, "k"), "\"zero\"");
  assert_non_null(strstr(meta(t, "tracekit"), "\"meta\":{\"distributedInfo\":{\"rank\":1},\"k\":\"one\"}"));
  assert_non_null(process(t, 1));
  assert_null(process(t, 9));
  assert_true(t->edits & TK_EDIT_RENAMED);
  assert_string_equal(tk_string(t, process(t, 1)->name, NULL), tk_string(m.t, process(m.t, 1)->name, NULL));
  for (tk_id i = 1; i <= t->n_records; i++)
    assert_memory_equal(trace_raw(t, t->records[i].at), trace_raw(m.t, m.t->records[i].at), t->records[i].size);
  tk_free(t);
  done(&m);
}

/* A rank that is unreadable, or needs repair with `strict`, is an error; any memory limit gives an error about the input. */
static void joined_refusals(void **state) {
  static const char whole[] = RANK(0, X(1, 0, "a"));
  struct tk_err err = {0};
  (void)state;
  assert_null(load_all((const char *const[]){whole, "not a trace"}, 2, (struct tk_load_options){0}, &err));
  assert_true(is_of_input(&err));
  assert_non_null(strstr(err.msg, "in1.json"));
  err = (struct tk_err){0};
  static const char *const repaired[] = {whole, RANK(1, "{\"ph\":\"X\",\"ts\":0}")};
  assert_null(load_all(repaired, 2, (struct tk_load_options){.strict = true}, &err));
  assert_true(is_of_input(&err));
  for (uint64_t limit = 1000; limit < 3000000; limit += limit / 4) {
    err = (struct tk_err){0};
    struct tk_trace *t =
        load_all((const char *const[]){ whole, whole, whole }, 3, (struct tk_load_options){ .max_memory = limit }, &err);
    if (!t) assert_true(is_of_input(&err));
    tk_free(t);
  }
}

static void joined_base(void **state) {
  static const char *const in[] = {"{\"baseTimeNanoseconds\":1790000000000000000,\"traceEvents\":[" X(1, 5, "a") "]}",
                                   "{\"traceEvents\":[" X(2, 7, "b") "]}"};
  struct tk_err err = {0};
  struct tk_trace *t = load_all(in, 2, (struct tk_load_options){0}, &err);
  (void)state;
  assert_non_null(t);
  assert_true(t->has_zero && t->zero_ns == 1790000000000000000 && t->edits & TK_EDIT_MOVED);
  assert_int_equal(event(t, "b")->ts - event(t, "a")->ts, 2000000);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pids),          cmocka_unit_test(string_pids),    cmocka_unit_test(names),
    cmocka_unit_test(by_host),       cmocka_unit_test(by_kind),        cmocka_unit_test(far_ranks),
    cmocka_unit_test(one_labelled),  cmocka_unit_test(sort),           cmocka_unit_test(hidden),
    cmocka_unit_test(flow_ids),      cmocka_unit_test(async_ids),      cmocka_unit_test(base_times),
    cmocka_unit_test(unknown_clock), cmocka_unit_test(base_and_epoch), cmocka_unit_test(ranks),
    cmocka_unit_test(one_input),     cmocka_unit_test(metadata),       cmocka_unit_test(refusals),
    cmocka_unit_test(out_of_memory), cmocka_unit_test(joined),         cmocka_unit_test(joined_refusals),
    cmocka_unit_test(joined_base),   cmocka_unit_test(same_ranks),
  };
  return cmocka_run_group_tests_name("merge", tests, make_dir, remove_dir);
}
