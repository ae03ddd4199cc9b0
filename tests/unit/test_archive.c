/* test_archive.c - archive members are read with the same contents from every kind of archive, in any order, and as far as possible
 * from truncated archives. */
#include "help.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/archive.h"
#include "io/packing.h"
#include "io/unpack.h"

enum { MEMBERS = 3, SIZE = 100000 };
static const char *const NAMES[MEMBERS] = {"run/rank0.json", "run/rank1.json", "run/sub/rank2.json"};
static char path[] = "/tmp/tracekit-archive-XXXXXX";
static uint8_t content[MEMBERS][SIZE];

static int make_content(void **state) {
  uint32_t x = 1;
  int fd = mkstemp(path);
  (void)state;
  for (size_t i = 0; i < sizeof content; i++) {
    x = x * 1664525 + 1013904223;
    ((uint8_t *)content)[i] = (uint8_t)("abcdefgh"[x >> 29]);
  }
  return fd < 0 || close(fd);
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

struct kind {
  const char *name;
  int (*format)(struct archive *);
  int (*filter)(struct archive *);
  bool pipe; /* can be read through a pipe */
};

static const struct kind KINDS[] = {
  {"tar", archive_write_set_format_ustar, archive_write_add_filter_none, true},
  {"pax", archive_write_set_format_pax, archive_write_add_filter_none, true},
  {"gnu", archive_write_set_format_gnutar, archive_write_add_filter_gzip, true},
  {"tar.zst", archive_write_set_format_ustar, archive_write_add_filter_zstd, true},
  {"tar.xz", archive_write_set_format_ustar, archive_write_add_filter_xz, true},
  {"zip", archive_write_set_format_zip, archive_write_add_filter_none, true},
  {"zip.gz", archive_write_set_format_zip, archive_write_add_filter_gzip, true},
  {"7z", archive_write_set_format_7zip, archive_write_add_filter_none, false},
};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static void put(struct archive *a, const char *name, const void *p, size_t n) {
  struct archive_entry *e = archive_entry_new();
  archive_entry_set_pathname(e, name);
  archive_entry_set_size(e, (la_int64_t)n);
  archive_entry_set_filetype(e, AE_IFREG);
  archive_entry_set_perm(e, 0644);
  archive_entry_set_mtime(e, 1000, 0);
  assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
  assert_int_equal(archive_write_data(a, p, n), (la_ssize_t)n);
  archive_entry_free(e);
}

static void make(const struct kind *k) {
  struct archive *a = archive_write_new();
  assert_int_equal(k->format(a), ARCHIVE_OK);
  assert_true(k->filter(a) >= ARCHIVE_WARN);
  assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
  put(a, "__MACOSX/._rank0.json", "junk", 4);
  for (int i = 0; i < MEMBERS; i++) put(a, NAMES[i], content[i], SIZE);
  assert_int_equal(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
}

static void assert_content(struct in *in, int i) {
  size_t avail;
  assert_non_null(in);
  assert_memory_equal(in_ahead(in, SIZE + 1, &avail, NULL), content[i], SIZE);
  assert_int_equal(avail, SIZE);
}

static void every_kind(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; k++) {
    struct mem mem = {0};
    struct tk_err err = {0};
    struct arc_member m;
    make(&KINDS[k]);
    assert_true(archive_is(path));
    struct arc *a = archive_open(path, 0, &err);
    assert_non_null(a);
    for (int i = 0; i < MEMBERS; i++) {
      assert_int_equal(archive_next(a, &m, &err), 1);
      assert_string_equal(m.name, NAMES[i]);
      assert_int_equal(m.index, i);
    }
    assert_int_equal(archive_next(a, &m, &err), 0);
    for (int i = 0, at; i < 2 * MEMBERS; i++) { /* 0 2 1 0 2 1: forwards and backwards */
      at = i * 2 % MEMBERS;
      assert_true(archive_goto(a, (uint32_t)at, &err));
      struct in *in = archive_content(a, &mem, &err);
      assert_content(in, at);
      in_close(in);
    }
    assert_null(archive_damage(a));
    archive_close(a);
    assert_int_equal(mem.used, 0);
  }
}

/* Reading through a pipe yields the first member, and a repair is noted because there are more. */
static void first_member(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; k++) {
    struct mem mem = {0};
    struct tk_err err = {0};
    const struct in_note *notes;
    bool repair = false;
    size_t avail;
    make(&KINDS[k]);
    struct in *in = in_open(path, 0, &mem, &err);
    assert_true((in != NULL) == KINDS[k].pipe);
    if (in) {
      assert_content(in, 0);
      in_consume(in, SIZE);
      in_ahead(in, 1, &avail, NULL);
      for (size_t i = in_notes(in, &notes); i-- > 0;) repair |= notes[i].repair;
      assert_true(repair);
    }
    in_close(in);
    assert_int_equal(mem.used, 0);
  }
}

static size_t read_file(uint8_t **data) {
  FILE *f = fopen(path, "rb");
  size_t n;
  assert_non_null(f);
  *data = malloc(4 * sizeof content);
  assert_non_null(*data);
  n = fread(*data, 1, 4 * sizeof content, f);
  fclose(f);
  return n;
}

static void write_file(const uint8_t *data, size_t n) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, n, f), n);
  fclose(f);
}

/* Reads as much as possible. Output must be correct, a prefix of the member's content, and losses must be reported. */
static void read_damaged(bool flipped) {
  struct tk_err err = {.offset = UINT64_MAX};
  struct mem mem = {0};
  struct arc_member m;
  struct arc *a = archive_open(path, 0, &err);
  bool said = a == NULL;
  unsigned whole = 0;
  int got = 0;
  while (a && (got = archive_next(a, &m, &err)) > 0) {
    struct tk_err why = {.offset = UINT64_MAX};
    struct in *in = archive_content(a, &mem, &why);
    const struct in_note *notes;
    size_t n = 0;
    const uint8_t *p = in ? in_ahead(in, SIZE + 1, &n, &why) : NULL;
    if (!p || (in && in_notes(in, &notes) > 0)) said = true;
    if (!flipped && p && n > 0) assert_memory_equal(p, content[m.index], n < SIZE ? n : SIZE);
    whole += p && n == SIZE;
    in_close(in);
  }
  said |= got < 0 || (a && archive_damage(a));
  if (!flipped) assert_true(said || whole == MEMBERS);
  archive_close(a);
  assert_int_equal(mem.used, 0);
}

static void damaged(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; k++) {
    uint8_t *data;
    make(&KINDS[k]);
    size_t n = read_file(&data);
    for (size_t i = 0; i < 24; i++) {
      size_t at = n * i / 24 + i;
      write_file(data, at);
      read_damaged(false);
      uint8_t was = data[at];
      data[at] ^= 0x55;
      write_file(data, n);
      read_damaged(true);
      data[at] = was;
    }
    free(data);
  }
}

static void limits(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; k++) {
    struct mem mem = {0};
    struct tk_err err = {.offset = UINT64_MAX};
    struct arc_member m;
    size_t avail;
    make(&KINDS[k]);
    struct arc *a = archive_open(path, SIZE / 2, &err);
    assert_non_null(a);
    assert_int_equal(archive_next(a, &m, &err), 1);
    struct in *in = archive_content(a, &mem, &err);
    assert_null(in ? in_ahead(in, SIZE, &avail, &err) : NULL);
    assert_int_equal(err.code, TK_ELIMIT);
    in_close(in);
    archive_close(a);
  }
}

static void what_is_none(void **state) {
  struct tk_err err = {.offset = UINT64_MAX};
  (void)state;
  write_file((const uint8_t *)"{\"traceEvents\":[]}", 18);
  assert_false(archive_is(path));
  assert_null(archive_open(path, 0, &err));
  assert_int_equal(err.code, TK_EFORMAT);
  write_file(content[0], SIZE);
  assert_false(archive_is(path));
  assert_false(archive_is("/nonexistent"));
  assert_false(archive_is("/tmp"));
  assert_true(packing_is_junk("a/.git/x") && packing_is_junk("__MACOSX/x") && packing_is_junk(".DS_Store"));
  assert_false(packing_is_junk("../x") || packing_is_junk("./x") || packing_is_junk("a/b.c") || packing_is_junk("__MACOSX2/x"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind), cmocka_unit_test(first_member), cmocka_unit_test(damaged),
                                     cmocka_unit_test(limits), cmocka_unit_test(what_is_none)};
  return cmocka_run_group_tests(tests, make_content, remove_file);
}
