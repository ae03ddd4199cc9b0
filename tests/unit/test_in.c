/* test_in.c - the input window: a reader's view does not depend on the chunks in which bytes arrive, and faults are reported at
 * their offset. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/in.h"

/* A source that yields `chunk` bytes at a time and fails at offset `fail_at`. */
struct drip {
  const uint8_t *data;
  size_t n, at, chunk, fail_at;
  unsigned reads, closed;
};

static ptrdiff_t drip_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct drip *d = self;
  size_t left = d->n - d->at, part = n < d->chunk ? n : d->chunk;
  d->reads++;
  if (part > left) part = left;
  if (d->at + part > d->fail_at) part = d->fail_at - d->at;
  if (part == 0 && d->at == d->fail_at) {
    err_sys(err, TK_EREAD, EIO, "cannot read at byte %zu", d->at);
    return -1;
  }
  memcpy(p, d->data + d->at, part);
  d->at += part;
  return (ptrdiff_t)part;
}

static void drip_close(void *self) { ((struct drip *)self)->closed++; }

static struct in *over(struct drip *d, struct mem *mem) {
  struct in_source s = {.read = drip_read, .close = drip_close, .self = d, .total = d->n};
  struct in *in = in_custom(s, mem, NULL);
  assert_non_null(in);
  return in;
}

static uint8_t *pattern(size_t n) {
  uint8_t *p = malloc(n + 1);
  assert_non_null(p);
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)(1 + i * 7919 % 251); /* never zero */
  return p;
}

static const uint8_t zeros[IN_PAD];

/* Reads everything with the given window and step sizes; checks bytes, padding and offset on the way. */
static void read_all(struct in *in, const uint8_t *data, size_t n, size_t min, size_t step) {
  size_t avail, at = 0, take;
  const uint8_t *p;
  for (;;) {
    p = in_ahead(in, min, &avail, NULL);
    assert_non_null(p);
    assert_true(avail >= min || at + avail == n);
    assert_true(at + avail <= n);
    assert_memory_equal(p, data + at, avail < 256 ? avail : 256);
    assert_memory_equal(p + avail, zeros, IN_PAD);
    assert_int_equal(in_offset(in), at);
    if (avail == 0) break;
    take = avail < step ? avail : step;
    assert_memory_equal(p, data + at, take);
    in_consume(in, take);
    at += take;
  }
  assert_int_equal(at, n);
}

static void chunking(void **state) {
  static const size_t sizes[] = {0, 1, 63, 64, 5000, 262143, 262144, 262145, 700000};
  static const size_t chunks[] = {1, 7, 4096, 262144, SIZE_MAX};
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint8_t *data = pattern(sizes[i]);
    for (size_t j = 0; j < sizeof chunks / sizeof *chunks; j++) {
      struct mem mem = {0};
      struct drip d = {.data = data, .n = sizes[i], .chunk = chunks[j], .fail_at = SIZE_MAX};
      struct in *in = over(&d, &mem);
      read_all(in, data, sizes[i], 100, 1777);
      assert_int_equal(in_raw_read(in), sizes[i]);
      assert_int_equal(in_raw_total(in), sizes[i]);
      in_close(in);
      assert_int_equal(d.closed, 1);
      assert_int_equal(mem.used, 0);
    }
    free(data);
  }
}

static void growth(void **state) {
  enum { N = 3 << 20 };
  uint8_t *data = pattern(N);
  struct mem mem = {0};
  struct drip d = {.data = data, .n = N, .chunk = 10000, .fail_at = SIZE_MAX};
  struct in *in = over(&d, &mem);
  size_t avail;
  const uint8_t *p;
  (void)state;
  in_consume(in, in_ahead(in, 10, &avail, NULL) ? 10 : 0);
  p = in_ahead(in, 1000000, &avail, NULL);
  assert_true(avail >= 1000000);
  assert_memory_equal(p, data + 10, avail);
  assert_memory_equal(p + avail, zeros, IN_PAD);
  p = in_ahead(in, SIZE_MAX, &avail, NULL);
  assert_int_equal(avail, N - 10);
  assert_memory_equal(p, data + 10, avail);
  in_close(in);
  free(data);
}

/* A hostile file declares a huge length: memory grows only with the bytes that exist. */
static void absurd_minimum(void **state) {
  struct mem mem = {.limit = 1 << 20};
  struct in *in = in_memory("abc", 3, &mem, NULL);
  size_t avail;
  (void)state;
  assert_memory_equal(in_ahead(in, SIZE_MAX, &avail, NULL), "abc", 3);
  assert_int_equal(avail, 3);
  in_consume(in, SIZE_MAX);
  assert_int_equal(in_offset(in), 3);
  assert_non_null(in_ahead(in, 0, &avail, NULL));
  assert_int_equal(avail, 0);
  in_close(in);
  assert_int_equal(mem.used, 0);
}

static void out_of_memory(void **state) {
  enum { N = 4 << 20 };
  uint8_t *data = pattern(N);
  struct mem mem = {.limit = 1 << 20};
  struct tk_err err = {0};
  struct in *in = in_memory(data, N, &mem, NULL);
  size_t avail;
  (void)state;
  assert_null(in_ahead(in, N, &avail, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  in_close(in);
  assert_int_equal(mem.used, 0);
  mem = (struct mem){.limit = 1000};
  err = (struct tk_err){0};
  assert_null(in_memory(data, N, &mem, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  assert_int_equal(mem.used, 0);
  free(data);
}

/* A read error at every offset: earlier bytes are delivered, the error is reported with errno, and again on the next call. */
static void faults(void **state) {
  uint8_t *data = pattern(200);
  (void)state;
  for (size_t at = 0; at < 200; at++) {
    for (size_t chunk = 1; chunk < 300; chunk += 99) {
      struct mem mem = {0};
      struct drip d = {.data = data, .n = 200, .chunk = chunk, .fail_at = at};
      struct in *in = over(&d, &mem);
      struct tk_err err = {0};
      size_t avail, got = 0;
      const uint8_t *p;
      while ((p = in_ahead(in, 1, &avail, &err))) {
        assert_int_not_equal(avail, 0);
        assert_memory_equal(p, data + got, avail);
        got += avail;
        in_consume(in, avail);
      }
      assert_int_equal(got, at);
      assert_int_equal(err.code, TK_EREAD);
      assert_int_equal(err.sys, EIO);
      err = (struct tk_err){0};
      assert_null(in_ahead(in, 1, &avail, &err));
      assert_int_equal(err.sys, EIO);
      in_close(in);
      assert_int_equal(d.closed, 1);
    }
  }
  free(data);
}

/* A read error after the requested bytes has no effect until these bytes are requested. */
static void fault_behind(void **state) {
  uint8_t *data = pattern(100);
  struct mem mem = {0};
  struct drip d = {.data = data, .n = 100, .chunk = 10, .fail_at = 50};
  struct in *in = over(&d, &mem);
  struct tk_err err = {0};
  size_t avail;
  (void)state;
  assert_non_null(in_ahead(in, 50, &avail, &err));
  assert_int_equal(avail, 50);
  assert_null(in_ahead(in, 51, &avail, &err));
  err = (struct tk_err){0};
  assert_non_null(in_ahead(in, 50, &avail, &err));
  in_close(in);
  free(data);
}

static void no_more_after_the_end(void **state) {
  struct mem mem = {0};
  struct drip d = {.data = (const uint8_t *)"xyz", .n = 3, .chunk = 3, .fail_at = SIZE_MAX};
  struct in *in = over(&d, &mem);
  size_t avail;
  unsigned reads;
  (void)state;
  assert_non_null(in_ahead(in, 10, &avail, NULL));
  reads = d.reads;
  assert_non_null(in_ahead(in, 10, &avail, NULL));
  assert_int_equal(d.reads, reads); /* reading a terminal again would prompt the user again */
  in_close(in);
}

static void files(void **state) {
  char name[] = "/tmp/tracekit-in-XXXXXX";
  struct mem mem = {0};
  struct tk_err err = {0};
  struct in *in;
  size_t avail;
  int fd = mkstemp(name);
  (void)state;
  assert_true(os_write(fd, "hello", 5));
  close(fd);
  in = in_open(name, 0, &mem, &err);
  assert_non_null(in);
  assert_memory_equal(in_ahead(in, 100, &avail, &err), "hello", 5);
  assert_int_equal(avail, 5);
  assert_int_equal(in_raw_total(in), 5);
  in_close(in);
  unlink(name);
  assert_null(in_open(name, 0, &mem, &err));
  assert_int_equal(err.code, TK_EOPEN);
  assert_int_equal(err.sys, ENOENT);
  err = (struct tk_err){0};
  assert_null(in_open("/tmp", 0, &mem, &err));
  assert_int_equal(err.code, TK_EOPEN);
  assert_non_null(strstr(err.msg, "directory"));
  assert_int_equal(mem.used, 0);
}

/* Other threads can read at any offset of a plain file, and sequential reading can continue at any offset, also after the end
 * was reached. */
static void moving(void **state) {
  enum { SIZE = 700000 };
  char name[] = "/tmp/tracekit-in-XXXXXX";
  uint8_t *data = pattern(SIZE), part[100];
  struct mem mem = {0};
  size_t avail;
  int fd = mkstemp(name);
  (void)state;
  assert_true(os_write(fd, data, SIZE));
  close(fd);
  struct in *in = in_open(name, 0, &mem, NULL);
  assert_true(in_is_shared(in));
  read_all(in, data, SIZE, 1000, 30000);
  for (size_t at = 0; at <= SIZE; at += 99991) {
    in_move(in, SIZE - at);
    assert_int_equal(in_raw_read(in), SIZE - at);
    assert_memory_equal(in_ahead(in, 10, &avail, NULL), data + SIZE - at, at < 10 ? at : 10);
    assert_int_equal(in_offset(in), SIZE - at);
    assert_int_equal(in_read_shared(in, part, sizeof part, at, NULL), SIZE - at < 100 ? SIZE - at : 100);
    assert_memory_equal(part, data + at, SIZE - at < 100 ? SIZE - at : 100);
  }
  in_close(in);
  unlink(name);
  free(data);
  in = in_memory("abc", 3, &mem, NULL);
  assert_false(in_is_shared(in));
  in_close(in);
}

static void standard_input(void **state) {
  struct mem mem = {0};
  int pipe_fd[2], saved = dup(STDIN_FILENO);
  struct in *in;
  size_t avail;
  (void)state;
  assert_int_equal(pipe(pipe_fd), 0);
  assert_true(os_write(pipe_fd[1], "piped", 5));
  close(pipe_fd[1]);
  dup2(pipe_fd[0], STDIN_FILENO);
  close(pipe_fd[0]);
  in = in_open("-", 0, &mem, NULL);
  assert_non_null(in);
  assert_memory_equal(in_ahead(in, 100, &avail, NULL), "piped", 5);
  assert_int_equal(in_raw_total(in), 0);
  in_close(in);
  if (saved >= 0) {
    dup2(saved, STDIN_FILENO);
    close(saved);
  }
}

static void the_system(void **state) {
  (void)state;
  assert_true(os_memory() > (uint64_t)16 << 20);
  assert_true(os_cores() >= 1);
  assert_true(os_same_file("/tmp/../etc/passwd", 1, "/etc/passwd", 0));
  assert_false(os_same_file("/etc/passwd", 1, "/etc/group", 0));
  assert_false(os_same_file("/etc/passwd", 1, "/nonexistent", 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(chunking),
    cmocka_unit_test(growth),
    cmocka_unit_test(absurd_minimum),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(faults),
    cmocka_unit_test(fault_behind),
    cmocka_unit_test(no_more_after_the_end),
    cmocka_unit_test(files),
    cmocka_unit_test(moving),
    cmocka_unit_test(standard_input),
    cmocka_unit_test(the_system),
  };
  return cmocka_run_group_tests_name("in", tests, NULL, NULL);
}
