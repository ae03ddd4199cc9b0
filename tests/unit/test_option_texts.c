/* test_option_texts.c - options given as text. Each of them also has a parser, a check or typed fields, which must give the same
 * result. */
#include "help.h"

#include "base/err.h"

static const char TEXT[] = "{\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":["
                           "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":10,\"dur\":80,\"name\":\"a\"},"
                           "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":100,\"dur\":10,\"name\":\"b\"}]}";

static void parse_times(void **state) {
  static const struct {
    const char *text;
    int64_t s, ps;
  } good[] = {{"0", 0, 0}, {"1.5", 0, 1500000}, {"-2ms", 0, -2000000000}, {"3s", 3, 0}, {"1700000000000000.25", 1700000000, 250000}};
  static const char *const bad[] = {"", "x", "1x", "1..2", "1e400", "99999999999999999999999999999999"};
  struct tk_total time;
  (void)state;
  for (size_t i = 0; i < LENGTH(good); i++) {
    assert_true(tk_parse_time(good[i].text, &time));
    assert_int_equal(time.s, good[i].s);
    assert_int_equal(time.ps, good[i].ps);
  }
  for (size_t i = 0; i < LENGTH(bad); i++)
    if (tk_parse_time(bad[i], &time)) fail_msg("'%s' is a time", bad[i]);
}

static void parse_scales(void **state) {
  static const char *const bad[] = {"", "ppm", "0", "-1", "1000001", "1 ppm ", "x", "-1000000ppm"};
  int64_t factor;
  (void)state;
  assert_true(tk_parse_scale("0.99998", &factor) && factor == 999980000000);
  assert_true(tk_parse_scale("-20ppm", &factor) && factor == 999980000000);
  assert_true(tk_parse_scale("1000000", &factor) && factor == 1000000000000000000);
  for (size_t i = 0; i < LENGTH(bad); i++)
    if (tk_parse_scale(bad[i], &factor)) fail_msg("'%s' is a scale", bad[i]);
}

static void parse_time_ranges(void **state) {
  struct tk_trace *t = feed_text(TEXT);
  struct tk_range range = {7, 7};
  struct tk_err err;
  (void)state;
  assert_true(tk_parse_time_range(NULL, "+2us..50%", &range, &err) && range.first == 7);
  assert_false(tk_parse_time_range(NULL, "+2us", &range, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_true(tk_parse_time_range(t, "+2us..50%", &range, &err));
  const tk_time start = t->events[1].ts;
  assert_int_equal(range.first, start + 2000000);
  assert_int_equal(range.last, start + 50000000);
  assert_true(tk_parse_time_range(t, "..-10us", &range, NULL) && range.first == INT64_MIN && range.last == start + 90000000);
  assert_false(tk_parse_time_range(t, "50%..10%", &range, &err));
  tk_free(t);
}

/* Times in a file may count from years ago, with more than 64 bits of picoseconds. */
static void parse_late_times(void **state) {
  struct tk_trace *t = feed_text("[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1653340563769987,\"dur\":100,\"name\":\"a\"}]");
  static const char *const same[] = {"1653340563769997..", "1653340563769997us..", "1653340563.769997s..",
                                     "1653340563769997000ns..", "1653340563769997000.0ns..", "1653340563769997000000ps..", "+10us.."};
  struct tk_range range;
  (void)state;
  for (size_t i = 0; i < LENGTH(same); i++) {
    assert_true(tk_parse_time_range(t, same[i], &range, NULL));
    assert_int_equal(range.first, t->events[1].ts + 10000000);
  }
  tk_free(t);
}

static void parse_dates(void **state) {
  struct tk_trace *t = feed_text(TEXT); /* 2023-11-14T22:13:20Z */
  static const char *const same[] = {"2023-11-14T22:13:20.00001Z..", "2023-11-14T22:13:20.00001..", "2023-11-14 22:13:20.00001+00:00..",
                                     "2023-11-15T03:43:20.00001+05:30..", "2023-11-14T14:13:20.00001-0800.."};
  static const char *const bad[] = {"2023-11-14T22:13:20+..", "2023-11-14T22:13:20+5..", "2023-11-14T22:13:20+05:60..",
                                    "2023-11-14T22:13:20+24:00..", "2023-11-14T22:13:20+05:300..", "2023-11-14T22:13:20Z+01:00..",
                                    "100000000000000000000000000%.."};
  struct tk_range range;
  (void)state;
  for (size_t i = 0; i < LENGTH(same); i++) {
    if (!tk_parse_time_range(t, same[i], &range, NULL)) fail_msg("'%s' is not a range", same[i]);
    assert_true(range.first == INT64_MIN); /* the first event starts then */
  }
  for (size_t i = 0; i < LENGTH(bad); i++)
    if (tk_parse_time_range(t, bad[i], &range, NULL)) fail_msg("'%s' is a range", bad[i]);
  tk_free(t);
}

/* A range selects the same events as the text from which it was parsed. */
static void filter_by_number(void **state) {
  (void)state;
  struct tk_filter_options text = TK_FILTER_OPTIONS_INIT, number = TK_FILTER_OPTIONS_INIT;
  struct tk_range range;
  struct tk_trace *t = feed_text(TEXT), *u = feed_text(TEXT);
  struct tk_err err;
  text.time = "+20us..+95us";
  assert_true(tk_parse_time_range(u, text.time, &range, &err));
  number.range = &range;
  assert_true(tk_filter(t, &text, NULL, &err) && tk_filter(u, &number, NULL, &err));
  char *a = tk_dump(t), *b = tk_dump(u);
  assert_string_equal(a, b);
  assert_int_equal(t->n_events, 2);
  assert_true(t->events[1].dur < 80000000);
  tk_free_text(a), tk_free_text(b);
  tk_free(t), tk_free(u);
}

static void rebase_by_number(void **state) {
  (void)state;
  struct tk_rebase_options text = TK_REBASE_OPTIONS_INIT, number = TK_REBASE_OPTIONS_INIT;
  struct tk_total to;
  struct tk_trace *t = feed_text(TEXT), *u = feed_text(TEXT);
  struct tk_err err;
  text.to = "1.5ms", text.scale = "20ppm";
  assert_true(tk_parse_time(text.to, &to) && tk_parse_scale(text.scale, &number.scale_factor));
  number.to_time = &to;
  assert_true(tk_rebase(t, &text, &err) && tk_rebase(u, &number, &err));
  char *a = tk_dump(t), *b = tk_dump(u);
  assert_string_equal(a, b);
  assert_int_equal(t->events[1].dur, 80001600);
  tk_free_text(a), tk_free_text(b);
  number.scale = "2";
  assert_false(tk_rebase_check(&number, &err));
  number.scale = NULL, number.scale_factor = 1;
  assert_false(tk_rebase_check(&number, &err));
  number.scale_factor = 0, number.to = "1";
  assert_false(tk_rebase_check(&number, &err));
  number.size = offsetof(struct tk_rebase_options, to_time); /* size in callers that were compiled before the numeric fields existed */
  assert_true(tk_rebase_check(&number, &err));
  tk_free(t), tk_free(u);
}

static void checks(void **state) {
  struct tk_shrink_options shrink = TK_SHRINK_OPTIONS_INIT;
  struct tk_merge_options merge = TK_MERGE_OPTIONS_INIT;
  struct tk_load_options load = {0};
  struct tk_err err;
  (void)state;
  assert_false(tk_shrink_check(&shrink, &err));
  shrink.events = 10, shrink.ladder = "python,args,counters", shrink.keep = "dur > 1ms";
  assert_true(tk_shrink_check(&shrink, &err));
  shrink.ladder = "python,arg";
  assert_false(tk_shrink_check(&shrink, &err));
  assert_non_null(strstr(err.msg, "'arg'"));
  shrink.ladder = NULL, shrink.drop = "dur >";
  assert_false(tk_shrink_check(&shrink, NULL));

  assert_true(tk_merge_check(NULL, &err));
  merge.label = "{rank} {nosuch}";
  assert_false(tk_merge_check(&merge, &err));
  merge.label = "{rank}", merge.anchor = "barrier.*", merge.time = "+1s..", merge.steps = "1..2";
  assert_true(tk_merge_check(&merge, &err));
  merge.anchor = "(";
  assert_false(tk_merge_check(&merge, &err));
  merge.anchor = NULL, merge.steps = "x";
  assert_false(tk_merge_check(&merge, &err));

  assert_true(tk_load_check(NULL, &err) && tk_load_check(&load, &err));
  load.step_name = "/(/";
  assert_false(tk_load_check(&load, &err));
  load.step_name = "every:iteration*", load.format = "perfetto";
  assert_true(tk_load_check(&load, &err));
  load.format = "nosuch";
  assert_false(tk_load_check(&load, &err));
}

static void settings(void **state) {
  static const char *const pretty[] = {"json.pretty=true", NULL}, *const plain[] = {"json.pretty=true", "json.pretty=false", NULL};
  static const char *const sched[] = {"perfetto.sched=true", NULL};
  static const char *const bad[] = {"json.pretty", "json.pretty=1", "pretty=true", "json.nosuch=true", "", "xjson.pretty=true"};
  struct tk_trace *t = feed_text(TEXT);
  struct tk_save_options save = {0}, old = {.pretty = true};
  struct tk_bytes usual, made, packets, same;
  struct tk_err err;
  (void)state;
  assert_true(tk_save_memory(t, "x.json", &usual, NULL, NULL, &err) && tk_save_memory(t, "x.json", &made, &old, NULL, &err));
  assert_true(usual.n != made.n);
  save.settings = pretty;
  assert_true(tk_save_memory(t, "x.json", &same, &save, NULL, &err));
  assert_true(same.n == made.n && memcmp(same.p, made.p, made.n) == 0);
  free(same.p);
  assert_true(tk_save_memory(t, "x.pftrace", &packets, &save, NULL, &err)); /* a setting of another format has no effect */
  save.settings = plain;
  assert_true(tk_save_memory(t, "x.json", &same, &save, NULL, &err));
  assert_true(same.n == usual.n && memcmp(same.p, usual.p, usual.n) == 0);
  free(same.p);
  for (size_t i = 0; i < LENGTH(bad); i++) {
    const char *const list[] = {bad[i], NULL};
    save.settings = list;
    if (tk_save_memory(t, "x.json", &same, &save, NULL, &err)) fail_msg("'%s' is accepted", bad[i]);
    assert_int_equal(err.code, TK_EUSAGE);
    assert_false(tk_load_check(&(struct tk_load_options){.settings = list}, &err));
  }
  assert_true(tk_load_check(&(struct tk_load_options){.settings = sched}, &err));
  assert_false(tk_load_check(&(struct tk_load_options){.settings = pretty}, &err)); /* a setting for saving */
  tk_free(t);
  t = tk_load_memory(usual.p, usual.n, "x.json", &(struct tk_load_options){.settings = sched}, &err);
  assert_non_null(t);
  assert_null(tk_load_memory(usual.p, usual.n, "x.json", &(struct tk_load_options){.settings = pretty}, &err));
  tk_free(t);
  free(usual.p), free(made.p), free(packets.p), free(same.p);
}

/* The setting "perfetto.sched=true" gives the same events as the bit TK_WITH_SCHED, for a packet with two switches of a CPU. */
static void sched_setting(void **state) {
  static const char SWITCHES[] = "\n\x24\n\x22\b\0\x12\x0e\b\xe8\x07\x10\0\"\x07*\1a\x10\0"
                                 "0\x07\x12\x0e\b\xd0\x0f\x10\x07\"\x07*\1b\x10\x07" "0";
  static const char *const sched[] = {"perfetto.sched=true", NULL}, *const not[] = {"perfetto.sched=false", NULL};
  const struct tk_load_options options[] = {{.settings = not, .with = TK_WITH_SCHED}, {.with = TK_WITH_SCHED}, {.settings = sched}};
  tk_id n[3];
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct tk_err err;
    struct tk_load_options o = options[i];
    o.format = "perfetto";
    struct tk_trace *t = tk_load_memory(SWITCHES, sizeof SWITCHES, "x.pftrace", &o, &err);
    if (!t) fail_msg("%s", err.msg);
    n[i] = t->n_events;
    tk_free(t);
  }
  assert_true(n[0] == 0 && n[1] > 0);
  assert_int_equal(n[2], n[1]);
}

static void lists_settings(void **state) {
  size_t n = 0;
  const struct tk_setting *s;
  (void)state;
  for (; (s = tk_setting(n)); n++) {
    char text[128];
    const char *const list[] = {text, NULL};
    struct tk_err err;
    snprintf(text, sizeof text, "%s.%s=true", s->format, s->name);
    assert_non_null(tk_format_of(s->format).format);
    assert_true(*s->help);
    assert_int_equal(tk_load_check(&(struct tk_load_options){.settings = list}, &err), !s->saving);
  }
  assert_int_equal(n, 4);
  assert_null(tk_setting(SIZE_MAX));
}

static void thresholds(void **state) {
  size_t n;
  struct tk_err err;
  const struct tk_threshold *usual = tk_thresholds(&n);
  struct tk_threshold *limits = calloc(n, sizeof *limits);
  (void)state;
  assert_true(limits && tk_thresholds_read(NULL, limits, n, &err));
  for (size_t i = 0; i < n; i++) assert_string_equal(limits[i].id, usual[i].id);
  assert_false(tk_thresholds_read("/nonexistent/file", limits, n, &err));
  struct tk_report_options options = TK_REPORT_OPTIONS_INIT;
  struct tk_report *report = NULL;
  struct tk_threshold one = {.id = "nosuch", .warning = 1, .bad = 2};
  struct tk_trace *t = feed_text(TEXT);
  options.limits = &one, options.n_limits = 1;
  assert_false(tk_report_trace(t, &options, &report, &err));
  tk_report_free(report);
  one.id = limits[0].id, one.warning = 3;
  assert_false(tk_report_trace(t, &options, &report, &err));
  tk_report_free(report);
  one.bad = 3;
  assert_true(tk_report_trace(t, &options, &report, &err));
  tk_report_free(report);
  tk_free(t);
  free(limits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(parse_times), cmocka_unit_test(parse_scales), cmocka_unit_test(parse_time_ranges),
    cmocka_unit_test(parse_late_times), cmocka_unit_test(parse_dates),
    cmocka_unit_test(filter_by_number), cmocka_unit_test(rebase_by_number), cmocka_unit_test(checks), cmocka_unit_test(settings),
    cmocka_unit_test(sched_setting), cmocka_unit_test(lists_settings), cmocka_unit_test(thresholds),
  };
  return cmocka_run_group_tests_name("option texts", tests, NULL, NULL);
}
