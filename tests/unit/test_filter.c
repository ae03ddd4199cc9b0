/* test_filter.c - the filter language: each expression with the names of the events that pass; validity of the result; errors
 * and their positions. */
#include "help.h"

static const char TRACE[] =
    "{\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":3},\"traceEvents\":["
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}},"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"args\":{\"name\":\"GPU 5\"}},"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"main\"}},"
    "{\"ph\":\"X\",\"name\":\"ProfilerStep#4\",\"cat\":\"user_annotation\",\"pid\":1,\"tid\":7,\"ts\":100,\"dur\":50},"
    "{\"ph\":\"X\",\"name\":\"aten::mm\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":7,\"ts\":110,\"dur\":30,"
    "\"args\":{\"Sizes\":\"12\",\"x\":1.50}},"
    "{\"ph\":\"X\",\"name\":\"launch\",\"cat\":\"cuda_runtime\",\"pid\":1,\"tid\":7,\"ts\":120,\"dur\":5,\"args\":{\"correlation\":9}},"
    "{\"ph\":\"s\",\"name\":\"ac2g\",\"cat\":\"ac2g\",\"id\":9,\"pid\":1,\"tid\":7,\"ts\":121},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"ac2g\",\"cat\":\"ac2g\",\"id\":9,\"pid\":2,\"tid\":3,\"ts\":200},"
    "{\"ph\":\"X\",\"name\":\"gemm\",\"cat\":\"kernel\",\"pid\":2,\"tid\":3,\"ts\":200,\"dur\":40,"
    "\"args\":{\"correlation\":9,\"stream\":3}},"
    "{\"ph\":\"X\",\"name\":\"ncclDevKernel_AllReduce\",\"cat\":\"kernel\",\"pid\":2,\"tid\":3,\"ts\":250,\"dur\":10},"
    "{\"ph\":\"i\",\"name\":\"mark\",\"pid\":1,\"tid\":7,\"ts\":130,\"s\":\"t\"},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":90,\"args\":{\"bytes\":1}},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":220,\"args\":{\"bytes\":2}}]}";

/* Returns the names of the remaining events as "a b c", by track; or the error. */
static char *left(const struct tk_filter_options *o) {
  struct tk_err err = {0};
  struct tk_trace *t = feed_text(TRACE);
  char *names = calloc(1, 1024);
  if (!tk_filter(t, o, NULL, &err)) {
    assert_true(snprintf(names, 1024, "%s", err.msg) > 0);
  } else {
    if (!tk_check(t, &err)) fail_msg("%s", err.msg);
    for (tk_id i = 1; i <= t->n_events; i++) {
      if (*names) strcat(names, " ");
      strcat(names, tk_string(t, t->classes[t->events[i].cls].name, NULL));
    }
  }
  tk_free(t);
  return names;
}

static void leaves(const struct tk_filter_options *o, const char *want) {
  char *got = left(o);
  assert_string_equal(got, want);
  free(got);
}

static void where(const char *text, const char *want) {
  const char *const list[] = {text, NULL};
  struct tk_filter_options o = {.where = list};
  leaves(&o, want);
}

static void symbols(void **state) {
  (void)state;
  where("name == gemm", "gemm");
  where("name =~ '^(gemm|launch)$'", "launch gemm");
  where("name ~ \"*::*\"", "aten::mm");
  where("cat == kernel", "gemm ncclDevKernel_AllReduce");
  where("cat != kernel && kind == span", "ProfilerStep#4 aten::mm launch");
  where("dur >= 30us && dur < 50us", "aten::mm gemm");
  where("self <= 25us && cat == cpu_op", "aten::mm");
  where("self < 25us && cat == cpu_op", "");
  where("depth == 1", "aten::mm");
  where("depth > 1", "launch mark");
  where("pid == 2", "gemm ncclDevKernel_AllReduce");
  where("rank == 3 && name == mark", "mark");
  where("rank != 3", "");
  where("process == \"GPU 5\" && stream == 3", "gemm");
  where("device == 5", "gemm ncclDevKernel_AllReduce");
  where("thread == main && kind == instant", "mark");
  where("track == memory", "memory memory");
  where("kind == collective", "ncclDevKernel_AllReduce");
  where("step == 4 && kind == span && pid == 1", "ProfilerStep#4 aten::mm launch");
  where("ts >= 110us && kind == kernel", "gemm ncclDevKernel_AllReduce");
  where("end <= 60us && kind == span", "ProfilerStep#4 aten::mm launch");
}

static void args(void **state) {
  (void)state;
  where("arg.stream", "gemm");
  where("arg.correlation == 9", "launch gemm");
  where("arg.correlation >= 9.5", "");
  where("arg.Sizes == 12", "aten::mm"); /* numeric strings compare as numbers */
  where("arg.Sizes == \"12\"", "aten::mm");
  where("arg.Sizes =~ '^1'", "aten::mm");
  where("arg.x == 1.5 && arg.x < 1.6", "aten::mm");
  where("!arg.correlation && kind == kernel", "ncclDevKernel_AllReduce");
}

/* A test of a missing property is false; != is the negation of ==. */
static void absent(void **state) {
  (void)state;
  where("dur < 1s && kind == counter", "");
  where("depth >= 0 && kind == counter", "");
  where("arg.none != 1 && name == mark", "mark");
  where("cat != x && name == mark", "mark");
  where("!(cat == x) && name == mark", "mark");
}

static void grammar(void **state) {
  (void)state;
  where("name==gemm||name==mark", "mark gemm");
  where("(name == gemm || name == mark) && pid == 1", "mark");
  where("name == gemm || name == mark && pid == 2", "gemm");
  where("!(!(name == gemm))", "gemm");
}

static void complaints(void **state) {
  (void)state;
  where("nmae == x", "filter 'nmae == x': column 1: unknown symbol: 'nmae': did you mean 'name'?");
  where("dur > 10", "filter 'dur > 10': column 7: expected a time with a unit, such as 10us, 1.5ms or 2s");
  where("dur =~ x", "filter 'dur =~ x': column 5: this symbol cannot be matched as text: compare it with == != < <= > >=");
  where("name > x", "filter 'name > x': column 6: text cannot be ordered: use == != =~ !~ or ~");
  where("name = x", "filter 'name = x': column 6: unknown operator '=': did you mean '=='?");
  where("name == \"x", "filter 'name == \"x': column 9: missing closing quote");
  where("(name == x", "filter '(name == x': column 11: expected ')', '&&' or '||'");
  where("name == x y", "filter 'name == x y': column 11: expected '&&', '||' or the end");
  where("", "filter '': column 1: expected a test such as dur > 1ms, got the end of the expression");
  where("kind == kernal", "filter 'kind == kernal': column 9: unknown kind: did you mean 'kernel'?");
  where("depth == x", "filter 'depth == x': column 10: expected a number");
}

static void deep(void **state) {
  char text[3000];
  const char *const list[] = {text, NULL};
  struct tk_filter_options o = {.where = list};
  (void)state;
  memset(text, '(', 2000);
  text[2000] = 0;
  char *got = left(&o);
  assert_non_null(strstr(got, "nested too deeply"));
  free(got);
}

static void relatives(void **state) {
  static const char *const kernel[] = {"name == gemm", NULL};
  struct tk_filter_options o = {.where = kernel, .keep_flows = true};
  (void)state;
  leaves(&o, "launch gemm");
  o.keep_parents = true;
  leaves(&o, "ProfilerStep#4 aten::mm launch gemm");
  static const char *const op[] = {"name == 'aten::mm'", NULL};
  o = (struct tk_filter_options){.where = op, .keep_children = true};
  leaves(&o, "aten::mm launch mark");
}

/* Spans are clipped and flagged, and a counter keeps its value at the left edge. */
static void windows(void **state) {
  struct tk_filter_options o = {.time = "115us..205us"};
  struct tk_err err = {0};
  (void)state;
  leaves(&o, "ProfilerStep#4 aten::mm launch mark gemm memory");
  struct tk_trace *t = feed_text(TRACE);
  struct tk_filter_report r = {0};
  assert_true(tk_filter(t, &o, &r, &err));
  assert_int_equal(r.clipped, 4);
  char *dump = tk_dump(t);
  assert_non_null(strstr(dump, "tracekit.clipped"));
  tk_free_text(dump);
  tk_free(t);
  o.time = "+25us..+120us"; /* relative to the first event, which is at 90 us */
  leaves(&o, "ProfilerStep#4 aten::mm launch mark gemm memory");
  o.time = "2023-11-14T22:13:20.00021Z..";
  leaves(&o, "gemm ncclDevKernel_AllReduce memory memory");
  o.time = "..10us";
  leaves(&o, "");
  o.time = "9..8";
  leaves(&o, "time range '9..8': ends before it starts");
  o.time = "soon..";
  leaves(&o, "time range: invalid time 'soon'; expected a time such as +2s, -1s, 25%, 1500us or 2026-11-20T10:37:52Z");
  o = (struct tk_filter_options){.steps = "4"}; /* gemm runs later but was launched in step 4 */
  leaves(&o, "ProfilerStep#4 aten::mm launch mark gemm memory");
  o.steps = "5..6";
  leaves(&o, "");
  o.refuse_empty = true;
  leaves(&o, "nothing matched: steps '5..6': the trace has steps 4 to 4");
}

/* Checks that the error explains why no event is left. */
static void nothing(void **state) {
  const char *list[] = {"name ~ \"Reduce\"", NULL, NULL};
  struct tk_filter_options o = {.where = list, .refuse_empty = true};
  struct tk_err err = {0};
  (void)state;
  leaves(&o, "nothing matched: none of 8 events has name ~ \"Reduce\"; patterns match whole names, and '*Reduce*' would match 1 event");
  list[0] = "name == GEM";
  leaves(&o, "nothing matched: none of 8 events has name == GEM; ignoring case, the regular expression '(?i)GEM' would match "
             "1 event");
  list[0] = "kind == memcpy";
  leaves(&o, "nothing matched: none of 8 events has kind == memcpy; the trace has span, instant, counter, host, device, kernel, "
             "collective, op, runtime, step, annotation");
  list[0] = "depth == 7";
  leaves(&o, "nothing matched: none of 8 events has depth == 7; for depths from 0 to 7 use ..7");
  list[0] = "dur > 1s";
  leaves(&o, "nothing matched: none of 8 events has dur > 1s");
  list[0] = "name == gemm", list[1] = "dur > 45us";
  leaves(&o, "nothing matched: each test matches some of the 8 events, but no event matches all of them");
  o = (struct tk_filter_options){.time = "1s..2s", .refuse_empty = true};
  leaves(&o, "nothing matched: no event is in the time range; the trace is 170.000 us long and has timestamps from 90us "
             "to 260us (+10ms.. is relative to its start)");
  struct tk_trace *t = feed_text(TRACE); /* the trace stays unchanged */
  assert_false(tk_filter(t, &o, NULL, &err));
  assert_int_equal(err.code, TK_ENOTHING);
  assert_int_equal(t->n_events, 8);
  tk_free(t);
}

/* Any expression gives a usage error or a valid trace. */
static void mutations(void **state) {
  static const char *const seeds[] = {"name =~ '^(gemm|launch)$' && dur >= 1.5us", "!(depth <= 2) || arg.correlation == 9.50",
                                      "kind == kernel && track ~ \"*x\\\"y*\"", "step == 4 && (ts < 10us || end > 1s) && self != 0s"};
  static const char letters[] = "()!&|<>=~'\"\\. 0123456789abcdefmnsux\xc3\t";
  uint32_t rng = 7;
  (void)state;
  for (int round = 0; round < 3000; round++) {
    char text[128];
    const char *const list[] = {text, NULL};
    struct tk_filter_options o = {.where = list, .keep_parents = round & 1, .keep_flows = round & 2, .keep_children = round & 4};
    struct tk_err err = {0};
    struct tk_trace *t = feed_text(TRACE);
    snprintf(text, sizeof text, "%s", seeds[round % 4]);
    for (int i = 0; i < 1 + round % 3; i++) {
      rng = rng * 1664525 + 1013904223;
      text[(rng >> 8) % strlen(text)] = letters[(rng >> 16) % (sizeof letters - 1)];
    }
    if (!tk_filter(t, &o, NULL, &err)) assert_int_equal(err.code, TK_EUSAGE);
    else if (!tk_check(t, &err)) fail_msg("%s: %s", text, err.msg);
    tk_free(t);
  }
}

static void flows(void **state) {
  static const char *const gpu[] = {"pid == 2", NULL};
  struct tk_filter_options o = {.where = gpu};
  struct tk_filter_report r = {0};
  struct tk_err err = {0};
  struct tk_trace *t = feed_text(TRACE);
  (void)state;
  assert_true(tk_filter(t, &o, &r, &err));
  assert_int_equal(t->n_flow_points, 0);
  assert_int_equal(r.broken_flows, 1);
  assert_true(t->tracks[trace_process(t, ident_int(1))].hidden);
  assert_false(t->tracks[trace_process(t, ident_int(2))].hidden);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symbols),   cmocka_unit_test(args), cmocka_unit_test(absent),    cmocka_unit_test(grammar),
      cmocka_unit_test(complaints), cmocka_unit_test(deep), cmocka_unit_test(relatives), cmocka_unit_test(windows),
      cmocka_unit_test(flows),     cmocka_unit_test(nothing), cmocka_unit_test(mutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
