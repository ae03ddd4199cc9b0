/* test_format.c - the table of formats, and detection by content, whatever the name suggests. */
#include "help.h"

#include "format/format.h"

static void table(void **state) {
  size_t n = 0;
  (void)state;
  for (const struct tk_format_info *f; (f = tk_format(n)) != NULL; n++) {
    char path[200];
    assert_non_null(f->name);
    assert_non_null(f->title);
    assert_ptr_equal(&format_by_name(f->name)->info, f);
    assert_string_equal(f->endings[0], f->ending);
    for (const char *const *e = f->endings; *e; e++) {
      snprintf(path, sizeof path, "/a.dir/x%s", *e);
      assert_ptr_equal(&format_by_path(path)->info, f);
      strcat(path, ".gz");
      assert_ptr_equal(&format_by_path(path)->info, f);
      struct tk_path said = tk_path_of(path);
      assert_ptr_equal(said.format, f);
      assert_int_equal(said.stem, strlen("/a.dir/x"));
      assert_int_equal(said.end, strlen(path) - 3);
      assert_string_equal(said.packing, ".gz");
    }
    for (size_t k = 0; k < n; k++) assert_string_not_equal(tk_format(k)->name, f->name);
  }
  assert_true(n > 0);
  assert_null(tk_format(n));
  assert_null(tk_format(SIZE_MAX));
  assert_null(format_by_name("none"));
  assert_null(format_by_name(""));
}

static void extensions(void **state) {
  static const struct {
    const char *path;
    const char *format;
  } t[] = {{"a.json", "json"},
           {"a.json.gz", "json"},
           {"a.pt.trace.json.gz", "json"},
           {"a.trace", "json"},
           {"/x.json/a", NULL},
           {"json", NULL},
           {"a.JSON.txt", NULL},
           {"", NULL},
           {"a.", NULL},
           {".", NULL},
           {"a.gz", NULL},
           {"a.json.", NULL},
           {".json", "json"},
           {"a.jsonx", NULL}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++) {
    const struct format *f = format_by_path(t[i].path);
    if (!f != !t[i].format || (f && strcmp(f->info.name, t[i].format) != 0))
      fail_msg("'%s': %s", t[i].path, f ? f->info.name : "none");
  }
}

/* Contents, and for each the format that is detected, or a part of the error message. */
static const struct { const char *bytes; size_t n; const char *format, *says; } contents[] = {
  {"{\"traceEvents\":[]}", 18, "json", NULL},
  {"[{", 2, "json", NULL},
  {"  \r\n\t[\n", 7, "json", NULL},
  {"\xef\xbb\xbf{\"a\"", 7, "json", NULL},
  {"{", 1, "json", NULL},
  {"[", 1, "json", NULL},
  {"", 0, NULL, "empty file"},
  {" \n\t ", 4, NULL, "whitespace"},
  {"<html>", 6, NULL, "HTML"},
  {"<?xml ", 6, NULL, "XML"},
  {"PK\3\4....", 8, NULL, "zip"},
  {"\x28\xb5\x2f\xfd....", 8, NULL, "zstd"},
  {"\xfd" "7zXZ\0..", 8, NULL, "xz"},
  {"BZh91AY", 7, NULL, "bzip2"},
  {"{\0\"\0", 4, NULL, "UTF-16"},
  {"log line\n{\"traceEvents\":[]}", 27, NULL, "byte 9"},
  {"hello", 5, NULL, "not a recognised trace"},
};

static void detection(void **state) {
  static const char *const names[] = {"a.json", "a.xplane.pb", "a", "-"};
  (void)state;
  for (size_t i = 0; i < LENGTH(contents); i++) {
    for (size_t k = 0; k < LENGTH(names); k++) {
      struct mem mem = {0};
      struct tk_err err = {0};
      struct in *in = in_memory(contents[i].bytes, contents[i].n, &mem, &err);
      const struct format *f = format_detect(in, names[k], NULL, &err);
      if (!f != !contents[i].format) fail_msg("case %zu: %s", i, f ? f->info.name : err.msg);
      if (f) assert_string_equal(f->info.name, contents[i].format);
      else if (err.code != TK_EFORMAT || !strstr(err.msg, contents[i].says)) fail_msg("case %zu: %s", i, err.msg);
      assert_int_equal(in_offset(in), 0);
      in_close(in);
      assert_int_equal(mem.used, 0);
    }
  }
}

/* Random bytes as the beginning of a file: a bid reads only the given bytes, and every bid is below 100,000. */
static void bids(void **state) {
  uint32_t r = 1;
  (void)state;
  for (int round = 0; round < 20000; round++) {
    size_t n = (r >> 8) % 64;
    uint8_t *p = malloc(n + IN_PAD);
    assert_non_null(p);
    memset(p + n, 0, IN_PAD);
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)((r = r * 1664525 + 1013904223) >> 24);
    for (size_t i = 0; tk_format(i); i++) {
      const struct format *f = format_by_name(tk_format(i)->name);
      if (f->info.can_read) assert_true(f->bid(p, n) < 100000);
    }
    free(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(table), cmocka_unit_test(extensions), cmocka_unit_test(detection),
                                     cmocka_unit_test(bids)};
  return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
