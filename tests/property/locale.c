/* locale.c - tests that the library works in any locale: with a decimal comma it reads and writes the same bytes as in the C
 * locale.
 *
 * Each step runs twice, in one folder per locale, and leaves its files there. The comma comes from de_DE.UTF-8, which
 * localedef builds for this test; if that fails the steps are reported as skipped. */
#include "../unit/help.h"

#include <dirent.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

static char work[] = "/tmp/tracekit-locale-XXXXXX";
static const char comma_locale[] = "de_DE.UTF-8";
static const char *current_locale;

/* ---- helpers of the steps ---- */

static const char *fixture(const char *name) {
  static char path[3][512];
  static int turn;
  turn = (turn + 1) % 3;
  snprintf(path[turn], sizeof path[turn], "%s/%s", getenv("FIXTURES"), name);
  return path[turn];
}

static struct tk_trace *load(const char *path) {
  struct tk_err err;
  struct tk_trace *t = tk_load(path, NULL, &err);
  if (!t) fail_msg("%s: %s", path, err.msg);
  return t;
}

static void save(struct tk_trace *t, const char *path) {
  struct tk_err err;
  if (!tk_save(t, path, &(struct tk_save_options){.force = true}, NULL, &err)) fail_msg("%s: %s", path, err.msg);
}

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

/* Writes JSON with all kinds of numbers; XPlane and Perfetto doubles derive from it. */
static void write_numbers(const char *path) {
  write_text(path, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                   "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0.125,\"dur\":1000.5,\"name\":\"a\",\"args\":{\"half\":1.5,\"small\":1e-7,"
                   "\"third\":0.33333333333333331483,\"long\":0.1000000000000000055511151231257827,\"zero\":-0.0,\"great\":1e300,"
                   "\"beyond\":1e400,\"text\":\"1.5\",\"comma\":\"1,5\",\"list\":[0.5,1.25e10]}},\n"
                   "{\"ph\":\"C\",\"pid\":1,\"ts\":2.5,\"name\":\"c\",\"args\":{\"v\":0.75,\"w\":\"2.25\",\"x\":1e-300}},\n"
                   "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":2000.001,\"dur\":0.5,\"name\":\"b\",\"args\":{\"half\":0.001}}]}\n");
}

/* ---- steps ---- */

/* Converts every input to every format, and from there to JSON. */
static void convert(void) {
  const char *const inputs[] = {"numbers.json", fixture("xplane/mlp_train/vm.xplane.pb"), fixture("perfetto/small.pftrace.gz")};
  const struct tk_format_info *format;
  write_numbers("numbers.json");
  for (size_t i = 0; i < LENGTH(inputs); i++) {
    struct tk_trace *t = load(inputs[i]), *again;
    for (size_t f = 0; (format = tk_format(f)) != NULL; f++) {
      char path[128], back[160];
      if (!format->can_write) continue;
      snprintf(path, sizeof path, "converted%zu%s", i, format->ending);
      save(t, path);
      if (!format->can_read) continue;
      snprintf(back, sizeof back, "%s.back.json", path);
      again = load(path);
      save(again, back);
      char *dump = dump_of(again);
      snprintf(back, sizeof back, "%s.dump", path);
      write_text(back, dump);
      free(dump);
      tk_free(again);
    }
    tk_free(t);
  }
}

/* Writes the trace of a host whose clock is ahead and drifts; both hosts share the barriers. */
static void write_host(const char *path, int rank, double ahead_us, double ppm) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  fprintf(f, "{\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":[", rank);
  for (int i = 0; i < 60; i++) {
    int64_t ns = (int64_t)((i * 50000 * (1 + ppm * 1e-6) + ahead_us) * 1000) + i * i % 7 * 100;
    fprintf(f, "%s\n{\"ph\":\"X\",\"cat\":\"user_annotation\",\"pid\":%d,\"tid\":1,\"name\":\"barrier\",\"ts\":%lld.%03d,\"dur\":50}",
            i ? "," : "", 100 + rank, (long long)(ns / 1000), (int)(ns % 1000));
  }
  fputs("]}\n", f);
  fclose(f);
}

static void merge(void) {
  const char *const inputs[] = {"host0_100.1.pt.trace.json", "host1_101.1.pt.trace.json"};
  struct tk_merge_options opt = {.align = TK_ALIGN_MARKER, .marker = "barrier", .align_report = "report.json"};
  struct tk_merge_report *report = NULL;
  struct tk_err err;
  setlocale(LC_ALL, "C"); /* the test writes its inputs itself */
  write_host(inputs[0], 0, 0, 0);
  write_host(inputs[1], 1, 777.125, 35);
  setlocale(LC_ALL, current_locale);
  if (!tk_merge(inputs, 2, "merged.json", &opt, &report, &err)) fail_msg("%s", err.msg);
  write_text("found.json", report->align.json);
  assert_true(report->align.n_hosts == 2 && report->align.hosts[1].drift_ppm != 0);
  write_text("trust.txt", report->align.hosts[1].trust);
  tk_merge_report_free(report);
}

static void filter(void) {
  const char *const where[] = {"arg.half > 0.75 || dur < 0.75us", NULL};
  struct tk_filter_options opt = {.where = where, .time = "+0.1us..+2.0005ms"};
  struct tk_err err;
  write_numbers("numbers.json");
  for (int i = 0; i < 2; i++) {
    struct tk_trace *t = load(i ? "numbers.pftrace" : "numbers.json");
    if (i == 0) save(t, "numbers.pftrace");
    if (!tk_filter(t, &opt, NULL, &err)) fail_msg("%s", err.msg);
    save(t, i ? "filtered_pftrace.json" : "filtered.json");
    tk_free(t);
  }
}

static void rebase(void) {
  static const char *const scales[] = {"0.99998", "-20.5ppm"};
  struct tk_err err;
  for (size_t i = 0; i < LENGTH(scales); i++) {
    struct tk_trace *t = load(fixture("json/viz/viz_small.json"));
    if (!tk_rebase(t, &(struct tk_rebase_options){.scale = scales[i]}, &err)) fail_msg("%s", err.msg);
    save(t, i ? "ppm.json" : "scaled.json");
    tk_free(t);
  }
}

static void shrink(void) {
  struct tk_shrink_options opt = {.percent = 62.5, .save.force = true};
  struct tk_shrink_report report;
  struct tk_err err;
  struct tk_trace *t = load(fixture("xplane/mlp_train/vm.xplane.pb"));
  if (!tk_shrink(t, "shrunk.json", &opt, &report, &err)) fail_msg("%s", err.msg);
  tk_free(t);
}

static void texts(void) {
  static const tk_time times[] = {0, 1, -999, 1500, 2500000, -1234567890, 1500000000000, INT64_MAX, INT64_MIN};
  static const uint64_t sizes[] = {0, 999, 1000, 1500, 1050000, 123456789012, UINT64_MAX};
  char lines[2048] = "";
  size_t n = 0;
  for (size_t i = 0; i < LENGTH(times); i++, n += strlen(lines + n), lines[n++] = '\n') tk_print_duration(times[i], lines + n);
  for (size_t i = 0; i < LENGTH(sizes); i++, n += strlen(lines + n), lines[n++] = '\n') tk_print_size(sizes[i], lines + n);
  tk_print_absolute(1700000000123456789, 1, lines + n);
  write_text("texts.txt", lines);
  tk_time ps;
  uint64_t bytes;
  assert_true(tk_parse_duration("1.5ms", &ps) && ps == 1500000000 && !tk_parse_duration("1,5ms", &ps));
  assert_true(tk_parse_size("1.5GB", &bytes) && bytes == 1500000000 && !tk_parse_size("1,5GB", &bytes));
}

/* ---- the comparison ---- */

static void enter(const char *locale) {
  char dir[128];
  snprintf(dir, sizeof dir, "%s/%s", work, locale);
  assert_int_equal(chdir(dir), 0);
  assert_non_null(setlocale(LC_ALL, locale));
  current_locale = locale;
}

static void compare_files(void) {
  char path[512];
  unsigned n = 0;
  snprintf(path, sizeof path, "%s/C", work);
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL; n += *e->d_name != '.') {
    if (*e->d_name == '.') continue;
    snprintf(path, sizeof path, "%s/C/%s", work, e->d_name);
    struct bytes point = read_whole(path);
    snprintf(path, sizeof path, "%s/%s/%s", work, comma_locale, e->d_name);
    struct bytes comma = read_whole(path);
    if (!point.p || !comma.p || point.n != comma.n || memcmp(point.p, comma.p, point.n) != 0)
      fail_msg("%s differs under %s", e->d_name, comma_locale);
    free(point.p);
    free(comma.p);
  }
  closedir(dir);
  assert_true(n > 0);
}

static void run_step(void **state) {
  void (*const *step)(void) = *state;
  enter("C");
  (*step)();
  enter(comma_locale);
  (*step)();
  setlocale(LC_ALL, "C");
  compare_files();
}

/* Checks that the locale has a decimal comma; otherwise the test could not fail. */
static void has_comma(void **unused) {
  char text[16];
  (void)unused;
  enter(comma_locale);
  snprintf(text, sizeof text, "%.1f", 1.5);
  setlocale(LC_ALL, "C");
  assert_string_equal(text, "1,5");
}

/* ---- folders and the locale ---- */

static bool shell(const char *fmt, ...) {
  char command[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(command, sizeof command, fmt, ap);
  va_end(ap);
  return system(command) == 0;
}

static int empty_folders(void **unused) {
  (void)unused;
  return !shell("cd %s && rm -rf C %s && mkdir C %s", work, comma_locale, comma_locale);
}

static bool make_locale(void) {
  char path[64];
  snprintf(path, sizeof path, "%s/locale", work);
  setenv("LOCPATH", path, 1);
  return shell("mkdir %s && localedef -i de_DE -f UTF-8 %s/%s", path, path, comma_locale) && setlocale(LC_ALL, comma_locale) &&
         setlocale(LC_ALL, "C");
}

#define STEP(step) {#step, run_step, empty_folders, NULL, (void *)&(void (*[1])(void)){step}}

int main(void) {
  const struct CMUnitTest tests[] = {
    {"has_comma", has_comma, empty_folders, NULL, NULL}, STEP(convert), STEP(merge), STEP(filter), STEP(rebase), STEP(shrink),
    STEP(texts),
  };
  int failed = 0;
  if (!mkdtemp(work)) return 1;
  if (make_locale()) failed = cmocka_run_group_tests_name("locale", tests, NULL, NULL);
  else printf("SKIPPED: locale: localedef cannot make %s: .ci/setup test installs what it needs\n0 passed, 0 failed\n", comma_locale);
  if (chdir("/") != 0 || !shell("rm -rf %s", work)) return 1;
  return failed;
}
