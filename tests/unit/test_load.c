/* test_load.c - loading and saving by name: errors, --strict, memory limits at any point, cancelling by progress, and output
 * that is complete or absent. */
#include "help.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/tracekit-load-XXXXXX";
static char path_a[64], path_b[64];

static int make_dir(void **state) {
  (void)state;
  if (!mkdtemp(dir)) return -1;
  snprintf(path_a, sizeof path_a, "%s/a.json", dir);
  snprintf(path_b, sizeof path_b, "%s/b.json", dir);
  return 0;
}

static int remove_dir(void **state) {
  (void)state;
  unlink(path_a);
  unlink(path_b);
  return rmdir(dir); /* fails if a temporary file is left */
}

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  fclose(f);
}

static const char sound[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\",\"args\":{\"k\":\"v\"}}]";
static const char repaired[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":-1,\"name\":\"a\"}]";

/* ---- loading ---- */

static void refused(void **state) {
  struct tk_err err;
  (void)state;
  assert_null(tk_load("/nonexistent/x.json", NULL, &err));
  assert_int_equal(err.code, TK_EOPEN);
  assert_int_equal(err.sys, ENOENT);
  assert_non_null(strstr(err.msg, "/nonexistent/x.json"));
  assert_null(tk_load("/nonexistent/x.json", NULL, NULL));
  assert_int_equal(mkdir(path_a, 0700), 0);
  assert_null(tk_load(path_a, NULL, &err));
  assert_int_equal(err.code, TK_EFORMAT);
  assert_non_null(strstr(err.msg, "contains no file"));
  assert_int_equal(rmdir(path_a), 0);
  write_file(path_a, sound);
  assert_null(tk_load(path_a, &(struct tk_load_options){.format = "none"}, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  write_file(path_a, "not a trace");
  assert_null(tk_load(path_a, NULL, &err));
  assert_int_equal(err.code, TK_EFORMAT);
  assert_ptr_equal(strstr(err.msg, path_a), err.msg);
}

static void strict(void **state) {
  struct tk_err err;
  struct tk_trace *t;
  (void)state;
  write_file(path_a, repaired);
  t = tk_load(path_a, NULL, &err);
  assert_non_null(t);
  assert_int_equal(t->notes[1].kind, TK_NOTE_REPAIR);
  assert_string_equal(t->source, path_a);
  assert_string_equal(t->format, "json");
  tk_free(t);
  assert_null(tk_load(path_a, &(struct tk_load_options){.strict = true}, &err));
  assert_int_equal(err.code, TK_ECORRUPT);
  assert_int_equal(err.offset, 1);
  write_file(path_a, sound);
  t = tk_load(path_a, &(struct tk_load_options){.strict = true, .check = true}, &err);
  assert_non_null(t);
  tk_free(t);
}

static bool stop_at(void *arg, uint64_t done, uint64_t total) {
  unsigned *left = arg;
  (void)done;
  (void)total;
  return (*left)-- > 0;
}

static void interrupted(void **state) {
  (void)state;
  write_file(path_a, sound);
  unsigned calls = 1000;
  struct tk_trace *t = tk_load(path_a, &(struct tk_load_options){.progress = {stop_at, &calls}}, NULL);
  assert_non_null(t);
  for (unsigned left = 0; left < 1000 - calls; left++) {
    unsigned n = left;
    struct tk_err err;
    assert_null(tk_load(path_a, &(struct tk_load_options){.progress = {stop_at, &n}}, &err));
    assert_int_equal(err.code, TK_EINTERRUPTED);
  }
  tk_free(t);
}

/* ---- limits of memory ---- */

static unsigned refusals;

static void limited(const char *path, struct bytes b) {
  static const uint64_t limits[] = {1, 1000, 20000, 70000, 150000, 300000, 700000, 2000000, 8000000};
  for (size_t i = 0; i < LENGTH(limits); i++) {
    struct tk_err err;
    struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){.max_memory = limits[i], .chunk = 1 << 20}, &err);
    if (t) assert_true(t->store->mem.peak <= limits[i]);
    else if (err.code != TK_ELIMIT && err.code != TK_ECORRUPT && err.code != TK_EFORMAT)
      fail_msg("%s, limit %llu: %s", path, (unsigned long long)limits[i], err.msg);
    refusals += !t && err.code == TK_ELIMIT;
    tk_free(t);
  }
}

static void limits(void **state) {
  (void)state;
  each_fixture("json", long_run() ? 64 << 20 : 1000000, limited);
  each_fixture("nasty", long_run() ? 64 << 20 : 300000, limited);
  assert_true(refusals > 300);
}

/* Each allocation of a small file fails in turn. */
static void every_limit(void **state) {
  static const char text[] =
      "{\"a\":{\"b\":[1]},\"traceEvents\":[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},"
      "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":5,\"dur\":10,\"name\":\"a\\n\",\"args\":{\"k\":[1,{}],\"d\":1.5,\"d\":2}},"
      "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":10,\"name\":\"a\\n\",\"bind_id\":5,\"flow_out\":true},{\"ph\":\"C\","
      "\"ts\":1,\"args\":{\"v\":NaN,\"w\":1}},"
      "{\"ph\":\"B\",\"ts\":3,\"name\":\"u\"},{\"ph\":\"B\",\"ts\":4,\"name\":\"v\"},{\"ph\":\"E\",\"ts\":5,\"args\":{\"r\":1}}"
      ",{\"ph\":\"X\",\"ts\":1e17,\"dur\":1},"
      "{\"ph\":\"b\",\"ts\":3,\"id\":1},{\"ph\":\"e\",\"ts\":5,\"id\":1},{\"ph\":\"s\",\"ts\":7,\"id\":1},{\"ph\":\"f\",\"ts\":"
      "6,\"id\":\"x\"}],"
      "\"stackFrames\":{\"1\":{\"parent\":2}}}";
  struct tk_trace *t = feed_text(text);
  uint64_t peak = t->store->mem.peak;
  (void)state;
  tk_free(t);
  for (uint64_t limit = 1; limit < peak; limit += long_run() ? 64 : 509) {
    struct tk_err err;
    t = feed_bytes(text, strlen(text), (struct feed){.max_memory = limit}, &err);
    if (!t) assert_int_equal(err.code, TK_ELIMIT);
    tk_free(t);
  }
}

/* ---- saving ---- */

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void saved_whole(void **state) {
  struct tk_saved done;
  struct tk_err err;
  (void)state;
  write_file(path_a, sound);
  struct tk_trace *t = tk_load(path_a, NULL, &err);
  unlink(path_b);
  assert_true(tk_save(t, path_b, &(struct tk_save_options){.dry_run = true}, &done, &err));
  assert_false(exists(path_b));
  assert_int_equal(done.events, 1);
  assert_true(tk_save(t, path_b, NULL, &done, &err));
  assert_int_equal(done.records, 1);
  assert_int_equal(done.bytes, done.raw_bytes);
  assert_false(tk_save(t, path_b, NULL, &done, &err)); /* the file exists now */
  assert_int_equal(err.code, TK_EWRITE);
  assert_true(tk_save(t, path_b, &(struct tk_save_options){.force = true}, NULL, NULL));
  assert_false(tk_save(t, path_a, &(struct tk_save_options){.force = true}, &done, &err)); /* its own input */
  assert_non_null(strstr(err.msg, path_a));
  tk_free(t);
  t = tk_load(path_b, &(struct tk_load_options){.strict = true}, &err);
  assert_non_null(t);
  assert_int_equal(t->n_events, 1);
  tk_free(t);
}

static void saves_refused(void **state) {
  struct tk_err err;
  (void)state;
  write_file(path_a, sound);
  struct tk_trace *t = tk_load(path_a, NULL, &err);
  assert_false(tk_save(t, "/nonexistent/dir/x.json", NULL, NULL, &err));
  assert_int_equal(err.code, TK_EWRITE);
  assert_false(tk_save(t, "/tmp/x.unknown", NULL, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_false(tk_save(t, path_b, &(struct tk_save_options){.format = "none", .force = true}, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_false(tk_save(t, "/dev/full", &(struct tk_save_options){.format = "json", .force = true}, NULL, &err));
  assert_int_equal(err.code, TK_EWRITE);
  assert_int_equal(err.sys, ENOSPC);
  tk_free(t);
}

static void provenance(void **state) {
  struct tk_err err;
  (void)state;
  write_file(path_a, sound);
  struct tk_trace *t = tk_load(path_a, NULL, &err);
  assert_true(
      tk_save(t, path_b, &(struct tk_save_options){.force = true, .command = "tracekit \"x\" \n \xc3\xa9"}, NULL, &err));
  struct bytes b = read_whole(path_b);
  assert_true(strict_json(b.p, b.n));
  assert_non_null(
      strstr((char *)b.p, "\"tracekit\":{\"version\":\"" TK_VERSION "\",\"command\":\"tracekit \\\"x\\\" \\n \xc3\xa9\"}"));
  free(b.p);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(refused),     cmocka_unit_test(strict),      cmocka_unit_test(interrupted),   cmocka_unit_test(limits),
    cmocka_unit_test(every_limit), cmocka_unit_test(saved_whole), cmocka_unit_test(saves_refused), cmocka_unit_test(provenance),
  };
  return cmocka_run_group_tests_name("load", tests, make_dir, remove_dir);
}
