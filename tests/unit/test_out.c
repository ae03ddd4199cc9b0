/* test_out.c - an output file is complete or absent, the result of the call shows which, and equal contents give equal bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "io/flate.h"
#include "io/in.h"
#include "io/gzip.h"
#include "io/out.h"

/* Each test runs in its own empty directory. */
static int enter(void **state) {
  char *name = strdup("/tmp/tracekit-out-XXXXXX");
  *state = name;
  return name && mkdtemp(name) && chdir(name) == 0 ? 0 : -1;
}

static int leave(void **state) {
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
  free(*state);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static size_t entries(void) {
  struct dirent *e;
  size_t n = 0;
  DIR *d = opendir(".");
  assert_non_null(d);
  while ((e = readdir(d))) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(d);
  return n;
}

static void make(const char *name, const char *text) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  assert_true(fd >= 0);
  assert_true(os_write(fd, text, strlen(text)));
  close(fd);
}

static void holds(const char *name, const void *data, size_t n) {
  struct mem mem = {0};
  struct in *in = in_open(name, 0, &mem, NULL);
  const uint8_t *p;
  size_t avail;
  assert_non_null(in);
  p = in_ahead(in, n + 1, &avail, NULL);
  assert_int_equal(avail, n);
  assert_memory_equal(p, data, n);
  in_close(in);
}

static uint8_t *text(size_t n) {
  char *p = malloc(n + 128);
  uint32_t r = 1;
  assert_non_null(p);
  for (size_t at = 0; at < n; r = r * 1664525 + 1013904223)
    at += (size_t)sprintf(p + at, "{\"ph\":\"X\",\"name\":\"op%u\",\"ts\":%zu.%03u,\"dur\":%u},\n", r >> 28, at, r >> 22,
                          r >> 16 & 0xfff);
  return (uint8_t *)p;
}

/* Writes n bytes in pieces of varying size, some of them directly into the buffer. */
static void pieces(struct out *o, const uint8_t *p, size_t n, uint32_t seed) {
  for (size_t at = 0, part; at < n; at += part, seed = seed * 1664525 + 1013904223) {
    part = (seed >> 8) % 10 == 0 ? seed >> 10 & 0xfffff : seed >> 10 & 0xfff;
    if (part > n - at) part = n - at;
    if (part <= OUT_ROOM && (seed >> 9 & 1)) {
      memcpy(out_reserve(o, part), p + at, part);
      o->next += part;
    } else {
      out_write(o, p + at, part);
    }
    assert_int_equal(out_raw_bytes(o), at + part);
  }
}

/* ---- contents ----------------------------------------------------------------------------------------------------- */

static void plain_file(void **state) {
  enum { N = 3000000 };
  uint8_t *data = text(N);
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  (void)state;
  assert_true(out_open(&o, "a.json", NULL, &mem, &err));
  pieces(&o, data, N, 7);
  assert_int_equal(access("a.json", F_OK), -1);
  assert_true(entries() <= 1); /* 0 if the file system supports unnamed files */
  assert_true(out_commit(&o, &err));
  assert_true(out_commit(&o, &err));
  assert_int_equal(out_raw_bytes(&o), N);
  assert_int_equal(out_file_bytes(&o), N);
  out_close(&o);
  out_close(&o);
  assert_int_equal(entries(), 1);
  assert_int_equal(mem.used, 0);
  holds("a.json", data, N);
  free(data);
}

/* Outputs that are finished but not committed use little memory, so that many can wait; an existing file stays until the
 * commit. */
static void finished_first(void **state) {
  enum { N = 700000 };
  uint8_t *data = text(N);
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out_options options = {.force = true, .gzip = true};
  struct out o;
  (void)state;
  make("a.json", "old");
  for (int round = 0; round < 3; round++) {
    options.threads = (unsigned)round + 1;
    assert_true(out_open(&o, "a.json", &options, &mem, &err));
    pieces(&o, data, N, 5);
    assert_true(out_finish(&o, &err));
    assert_true(out_finish(&o, &err));
    assert_true(mem.used < 4096);
    assert_int_equal(out_raw_bytes(&o), N);
    uint64_t bytes = out_file_bytes(&o);
    assert_true(bytes > 18);
    if (round == 0) holds("a.json", "old", 3);
    assert_int_equal(entries(), 2);
    if (round < 2) assert_true(out_commit(&o, &err));
    assert_int_equal(out_file_bytes(&o), bytes);
    out_close(&o);
    assert_int_equal(mem.used, 0);
    assert_int_equal(entries(), 1);
  }
  free(data);
}

static struct buf gzipped(const uint8_t *data, size_t n, int level, uint32_t seed, unsigned threads) {
  static struct mem pool;
  struct mem mem = {0};
  struct buf copy = {.mem = &pool};
  struct out o;
  size_t size;
  const uint8_t *p;
  assert_true(out_memory(&o, &(struct out_options){.gzip = true, .level = level, .threads = threads}, &mem, NULL));
  pieces(&o, data, n, seed);
  assert_true(out_commit(&o, NULL));
  p = out_memory_data(&o, &size);
  assert_int_equal(out_file_bytes(&o), size);
  assert_true(buf_append(&copy, p, size));
  out_close(&o);
  assert_int_equal(mem.used, 0);
  return copy;
}

/* Equal contents give equal bytes, however they were written; one gzip member; sizes are ordered by level. */
static void gzip_levels(void **state) {
  enum { N = 2000000 };
  uint8_t *data = text(N);
  size_t size[10];
  (void)state;
  for (int level = 0; level <= 9; level++) {
    struct buf a = gzipped(data, N, level, 1, 1), b = gzipped(data, N, level, 99, 3);
    struct mem mem = {0};
    struct in *in;
    const struct in_note *notes;
    size_t avail;
    size[level] = a.len;
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    assert_memory_equal(a.data, "\x1f\x8b\x08\0\0\0\0\0", 8);
    assert_int_equal(a.data[9], 255);
    in = gzip_open(in_memory(a.data, a.len, &mem, NULL), N, &mem, NULL);
    assert_memory_equal(in_ahead(in, N + 1, &avail, NULL), data, N);
    assert_int_equal(avail, N);
    assert_int_equal(in_notes(in, &notes), 0);
    in_close(in);
    buf_free(&a);
    buf_free(&b);
  }
  /* levels from 2 on are zlib's; on some processors zlib uses hardware for some levels */
  assert_true(size[9] <= size[1] && size[6] <= size[1]);
  assert_true(size[0] <= size[1] && size[0] >= size[9]);
  free(data);
}

/* An output that only counts bytes (out_count) reports the size of the real output. */
static void counted(void **state) {
  enum { N = 2000000 };
  uint8_t *data = text(N);
  (void)state;
  for (int i = 0; i < 6; i++) {
    const struct out_options opt = {.gzip = i % 3 == 1, .zstd = i % 3 == 2, .level = 1, .threads = i < 3 ? 1 : 3};
    struct mem mem = {0};
    uint64_t bytes[2];
    for (int real = 0; real < 2; real++) {
      struct out o;
      assert_true(real ? out_open(&o, "/dev/null", &opt, &mem, NULL) : out_count(&o, &opt, &mem, NULL));
      pieces(&o, data, N, 7);
      assert_true(out_commit(&o, NULL));
      bytes[real] = out_file_bytes(&o);
      out_close(&o);
      assert_int_equal(mem.used, 0);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_true(bytes[0] > 0);
  }
  free(data);
}

static void gzip_sizes(void **state) {
  static const size_t sizes[] = {0, 1, 100, 262143, 262144, 262145, 266240, 266241, 524288};
  uint8_t *data = text(600000);
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (int level = 0; level <= 6; level += 3) {
      struct buf a = gzipped(data, sizes[i], level, 5, i % 3);
      struct mem mem = {0};
      struct in *in = gzip_open(in_memory(a.data, a.len, &mem, NULL), 0, &mem, NULL);
      size_t avail;
      const uint8_t *p = in_ahead(in, sizes[i] + 1, &avail, NULL);
      assert_int_equal(avail, sizes[i]);
      if (avail) assert_memory_equal(p, data, avail);
      in_close(in);
      buf_free(&a);
    }
  }
  free(data);
}

/* Threads also work with incompressible bytes, with as many threads as allowed, and with more threads than cores. */
static void gzip_threads(void **state) {
  static const size_t sizes[] = {1 << 20, (1 << 20) + 1, (1 << 20) + 4097, 5 << 20, (7 << 20) + 12345};
  uint8_t *data = text(8 << 20);
  uint64_t random = 1;
  (void)state;
  for (size_t i = 3 << 20; i < 5 << 20; i++) data[i] = (uint8_t)((random = random * 6364136223846793005u + 1) >> 56);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct buf one = gzipped(data, sizes[i], i == 4 ? 5 : 0, 5, 1);
    struct mem mem = {0};
    struct in *in = gzip_open(in_memory(one.data, one.len, &mem, NULL), 0, &mem, NULL);
    size_t avail;
    const uint8_t *p = in_ahead(in, sizes[i] + 1, &avail, NULL);
    assert_int_equal(avail, sizes[i]);
    assert_memory_equal(p, data, avail);
    in_close(in);
    for (unsigned threads = 0; threads <= 40; threads = threads * 2 + 2) {
      struct buf many = gzipped(data, sizes[i], i == 4 ? 5 : 0, 7 + threads, threads);
      assert_int_equal(many.len, one.len);
      assert_memory_equal(many.data, one.data, one.len);
      buf_free(&many);
    }
    buf_free(&one);
  }
  free(data);
}

/* The bytes between two breaks do not depend on the preceding bytes, and a repeated break has no effect. */
static void gzip_breaks(void **state) {
  enum { N = 2500000, HEAD = 10 };
  uint8_t *data = text(N);
  (void)state;
  for (unsigned threads = 1; threads <= 3; threads += 2) {
    size_t size[2][2];
    uint8_t *bytes[2];
    for (unsigned k = 0; k < 2; k++) {
      const size_t before = k ? 1234567 : 77;
      struct mem mem = {0};
      struct out o;
      assert_true(out_memory(&o, &(struct out_options){.gzip = true, .part = true, .threads = threads}, &mem, NULL));
      out_write(&o, data, before);
      out_break(&o);
      out_break(&o);
      size[k][0] = (size_t)out_file_bytes(&o) - HEAD;
      assert_int_equal(out_crcs(&o).raw, flate_crc(0, data, before));
      out_write(&o, data, N);
      out_break(&o);
      const uint8_t *p = out_memory_data(&o, &size[k][1]);
      bytes[k] = malloc(size[k][1]);
      assert_non_null(bytes[k]);
      memcpy(bytes[k], p + size[k][0] + HEAD, size[k][1] -= size[k][0] + HEAD);
      out_close(&o);
      assert_int_equal(mem.used, 0);
    }
    assert_int_equal(size[0][1], size[1][1]);
    assert_memory_equal(bytes[0], bytes[1], size[0][1]);
    free(bytes[0]);
    free(bytes[1]);
  }
  free(data);
}

static void gzip_file(void **state) {
  struct mem mem = {0};
  struct out o;
  (void)state;
  assert_true(out_open(&o, "a.json.gz", &(struct out_options){.gzip = true}, &mem, NULL));
  out_write(&o, "hello", 5);
  assert_true(out_commit(&o, NULL));
  assert_int_equal(out_raw_bytes(&o), 5);
  out_close(&o);
  holds("a.json.gz", "hello", 5);
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

static void abandoned(void **state) {
  struct mem mem = {0};
  struct out o;
  (void)state;
  assert_true(out_open(&o, "a.json", NULL, &mem, NULL));
  out_write(&o, "half", 4);
  assert_true(entries() <= 1);
  out_close(&o);
  assert_int_equal(entries(), 0);
  assert_int_equal(mem.used, 0);
}

static void existing_files(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  (void)state;
  make("a.json", "old");
  assert_false(out_open(&o, "a.json", NULL, &mem, &err));
  assert_int_equal(err.code, TK_EWRITE);
  assert_int_equal(err.sys, EEXIST);
  assert_int_equal(err.option, TK_OPTION_FORCE);
  assert_int_equal(mem.used, 0);
  assert_true(out_open(&o, "a.json", &(struct out_options){.force = true}, &mem, NULL));
  out_write(&o, "new", 3);
  out_close(&o);
  holds("a.json", "old", 3);
  assert_true(out_open(&o, "a.json", &(struct out_options){.force = true}, &mem, NULL));
  out_write(&o, "new", 3);
  assert_true(out_commit(&o, NULL));
  out_close(&o);
  holds("a.json", "new", 3);
  assert_int_equal(entries(), 1);
}

static void came_meanwhile(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  (void)state;
  assert_true(out_open(&o, "a.json", NULL, &mem, NULL));
  make("a.json", "theirs");
  assert_false(out_commit(&o, &err));
  assert_int_equal(err.sys, EEXIST);
  out_close(&o);
  holds("a.json", "theirs", 6);
  assert_int_equal(entries(), 1);
}

static void links(void **state) {
  struct mem mem = {0};
  struct out o;
  struct stat st;
  (void)state;
  assert_int_equal(mkdir("d", 0755), 0);
  make("d/target", "old");
  assert_int_equal(symlink("d/target", "link"), 0);
  assert_false(out_open(&o, "link", NULL, &mem, NULL));
  assert_true(out_open(&o, "link", &(struct out_options){.force = true}, &mem, NULL));
  out_write(&o, "new", 3);
  assert_true(out_commit(&o, NULL));
  out_close(&o);
  assert_int_equal(lstat("link", &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  holds("d/target", "new", 3);
}

static void bad_places(void **state) {
  static const char *const places[] = {"no/such/dir/a.json", ".", ""};
  struct mem mem = {0};
  (void)state;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    struct tk_err err = {0};
    struct out o;
    assert_false(out_open(&o, places[i], &(struct out_options){.force = true}, &mem, &err));
    assert_int_equal(err.code, TK_EWRITE);
    assert_int_not_equal(err.sys, 0);
    out_close(&o);
  }
  assert_int_equal(mem.used, 0);
  assert_int_equal(entries(), 0);
}

static void long_name(void **state) {
  struct mem mem = {0};
  struct out o;
  char name[256];
  (void)state;
  memset(name, 'x', 255);
  name[255] = 0;
  assert_true(out_open(&o, name, NULL, &mem, NULL));
  assert_true(out_commit(&o, NULL));
  out_close(&o);
  assert_int_equal(access(name, F_OK), 0);
}

static void an_input_too(void **state) {
  const char *inputs[] = {"b.json", "./c.json", NULL};
  struct out_options opt = {.force = true, .inputs = inputs};
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  (void)state;
  make("b.json", "b");
  make("c.json", "c");
  assert_int_equal(link("c.json", "same.json"), 0);
  assert_false(out_open(&o, "same.json", &opt, &mem, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  holds("c.json", "c", 1);
  assert_true(out_open(&o, "other.json", &opt, &mem, NULL));
  out_close(&o);
  assert_int_equal(entries(), 3);
}

/* ---- outputs that are not files ------------------------------------------------------------------------------------ */

static void no_room(void **state) {
  enum { N = 2000000 };
  uint8_t *data = text(N);
  (void)state;
  for (int gzip = 0; gzip <= 3; gzip++) {
    struct mem mem = {0};
    struct tk_err err = {0};
    struct out o;
    assert_true(out_open(&o, "/dev/full", &(struct out_options){.gzip = gzip & 1, .threads = 1 + (unsigned)gzip}, &mem, &err));
    pieces(&o, data, N, 3); /* continues as if nothing had happened */
    assert_false(out_commit(&o, &err));
    assert_int_equal(err.code, TK_EWRITE);
    assert_int_equal(err.sys, ENOSPC);
    out_close(&o);
    assert_int_equal(mem.used, 0);
  }
  assert_int_equal(access("/dev/full", F_OK), 0);
  free(data);
}

static void closed_pipe(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  int fds[2], saved = dup(STDOUT_FILENO);
  bool opened, done;
  (void)state;
  signal(SIGPIPE, SIG_IGN);
  assert_int_equal(pipe(fds), 0);
  close(fds[0]);
  fflush(stdout);
  dup2(fds[1], STDOUT_FILENO);
  close(fds[1]);
  opened = out_open(&o, "-", NULL, &mem, &err);
  if (opened) out_write(&o, "hello", 5);
  done = opened && out_commit(&o, &err);
  out_close(&o);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  assert_true(opened);
  assert_false(done);
  assert_int_equal(err.code, TK_EWRITE);
  assert_int_equal(err.sys, EPIPE);
}

static void nowhere(void **state) {
  struct mem mem = {0};
  struct out o;
  (void)state;
  assert_true(out_open(&o, "/dev/null", NULL, &mem, NULL));
  out_write(&o, "hello", 5);
  assert_true(out_commit(&o, NULL));
  out_close(&o);
}

static void terminal(void **state) {
  struct mem mem = {0};
  struct tk_err err = {0};
  struct out o;
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  const char *name;
  (void)state;
  if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || !(name = ptsname(fd))) skip();
  assert_false(out_open(&o, name, &(struct out_options){.gzip = true}, &mem, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  err = (struct tk_err){0};
  assert_false(out_open(&o, name, &(struct out_options){.binary = true}, &mem, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_true(out_open(&o, name, NULL, &mem, NULL));
  out_close(&o);
  close(fd);
  assert_int_equal(mem.used, 0);
}

static void out_of_memory(void **state) {
  enum { N = 2000000 };
  uint8_t *data = text(N);
  (void)state;
  for (uint64_t limit = 1000; limit < 90000000; limit = limit * 5 / 4) {
    struct mem mem = {.limit = limit};
    struct tk_err err = {0};
    struct out o;
    bool ok = out_memory(&o, &(struct out_options){.gzip = limit & 1, .threads = 3}, &mem, &err);
    if (ok) pieces(&o, data, N, 3);
    ok = ok && out_commit(&o, &err);
    assert_int_equal(err.code, ok ? TK_OK : TK_ELIMIT);
    out_close(&o);
    assert_int_equal(mem.used, 0);
  }
  free(data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(plain_file, enter, leave),
    cmocka_unit_test(gzip_levels),
    cmocka_unit_test(counted),
    cmocka_unit_test(gzip_sizes),
    cmocka_unit_test(gzip_threads),
    cmocka_unit_test(gzip_breaks),
    cmocka_unit_test_setup_teardown(gzip_file, enter, leave),
    cmocka_unit_test_setup_teardown(abandoned, enter, leave),
    cmocka_unit_test_setup_teardown(existing_files, enter, leave),
    cmocka_unit_test_setup_teardown(finished_first, enter, leave),
    cmocka_unit_test_setup_teardown(came_meanwhile, enter, leave),
    cmocka_unit_test_setup_teardown(links, enter, leave),
    cmocka_unit_test_setup_teardown(bad_places, enter, leave),
    cmocka_unit_test_setup_teardown(long_name, enter, leave),
    cmocka_unit_test_setup_teardown(an_input_too, enter, leave),
    cmocka_unit_test(no_room),
    cmocka_unit_test(closed_pipe),
    cmocka_unit_test(nowhere),
    cmocka_unit_test(terminal),
    cmocka_unit_test(out_of_memory),
  };
  return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
