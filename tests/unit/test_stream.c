/* test_stream.c - traces that are not files: memory, descriptors and callbacks give the same result as files. */
#include "help.h"

#include <errno.h>
#include <unistd.h>

#include "tracekit.h"

static const char text[] = "[{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":0,\"dur\":1,\"name\":\"a\",\"args\":{\"k\":\"v\"}}]";

struct feeder {
  const char *p;
  size_t left, fail_at;
};

static ptrdiff_t give(void *arg, void *p, size_t n) {
  struct feeder *f = arg;
  (void)n;
  if (f->fail_at && f->left <= f->fail_at) {
    errno = EIO;
    return -1;
  }
  if (!f->left) return 0;
  *(char *)p = *f->p++;
  f->left--;
  return 1;
}

struct collector {
  char bytes[4096];
  size_t n, most;
};

static bool collect(void *arg, const void *p, size_t n) {
  struct collector *c = arg;
  if (c->n + n > c->most) return false;
  memcpy(c->bytes + c->n, p, n);
  c->n += n;
  return true;
}

static void expect_same(struct tk_trace *t, struct tk_trace *as) {
  assert_non_null(t);
  char *is = dump_of(t), *want = dump_of(as);
  assert_string_equal(is, want);
  free(is);
  free(want);
  tk_free(t);
}

static void loads(void **state) {
  (void)state;
  struct tk_trace *as = feed_text(text);
  struct tk_err err;
  int ends[2];
  expect_same(tk_load_memory(text, strlen(text), "x", NULL, &err), as);
  expect_same(tk_load_stream((struct tk_reader){give, &(struct feeder){text, strlen(text), 0}}, "x", NULL, &err), as);
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
  close(ends[1]);
  expect_same(tk_load_fd(ends[0], "x", NULL, &err), as);
  assert_int_equal(close(ends[0]), 0); /* the caller still owns it */
  tk_free(as);
}

static void packed(void **state) {
  (void)state;
  struct tk_trace *as = feed_text(text);
  static const char *const names[] = {"x.json", "x.json.gz", "x.json.zst", "x.pftrace", "x.xplane.pb.gz"};
  for (size_t i = 0; i < LENGTH(names); i++) {
    struct collector c = {.most = sizeof c.bytes};
    struct tk_saved saved;
    struct tk_err err;
    struct tk_bytes made;
    assert_true(tk_save_memory(as, names[i], &made, NULL, &saved, &err));
    assert_int_equal(saved.bytes, made.n);
    assert_true(tk_save_stream(as, names[i], (struct tk_writer){collect, &c}, NULL, NULL, &err));
    assert_int_equal(c.n, made.n);
    assert_memory_equal(c.bytes, made.p, made.n);
    struct tk_trace *t = tk_load_memory(made.p, made.n, names[i], NULL, &err);
    assert_non_null(t);
    assert_int_equal(t->n_events, 1);
    tk_free(t);
    free(made.p);
  }
  tk_free(as);
}

static void refused(void **state) {
  (void)state;
  struct tk_trace *as = feed_text(text);
  struct collector small = {.most = 10};
  struct tk_err err;
  struct tk_bytes made;
  assert_null(tk_load_stream((struct tk_reader){give, &(struct feeder){text, strlen(text), 20}}, "the feeder", NULL, &err));
  assert_int_equal(err.code, TK_EREAD);
  assert_int_equal(err.sys, EIO);
  assert_ptr_equal(strstr(err.msg, "the feeder"), err.msg);
  assert_null(tk_load_memory("nothing", 7, "x", NULL, NULL));
  assert_null(tk_load_memory("", 0, "x", NULL, &err));
  assert_false(tk_save_stream(as, "x.json", (struct tk_writer){collect, &small}, NULL, NULL, &err));
  assert_int_equal(err.code, TK_EWRITE);
  assert_false(tk_save_memory(as, "x.none", &made, NULL, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_null(made.p);
  assert_false(tk_save_fd(as, "x.json", -1, NULL, NULL, &err));
  assert_int_equal(err.code, TK_EWRITE);
  tk_free(as);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads), cmocka_unit_test(packed), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
