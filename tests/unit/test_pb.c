/* test_pb.c - the protobuf wire format: valid data is read, invalid data is reported, and nothing is read beyond the end; the
 * cursor over an input gives the same result as the cursor in memory, however the bytes arrive. */
#include "help.h"

#include "format/pb.h"
#include "format/pb_out.h"

/* ---- in memory ---- */

/* Prints the fields as text: "1=300 2:3 5=7", or the error. */
static void show(const void *p, size_t n, char *text, size_t room) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  size_t at = 0;
  text[0] = 0;
  while (pb_next(&c, &f))
    at += (size_t)snprintf(text + at, room - at, "%s%u%c%llu", at ? " " : "", f.number, f.wire == PB_BYTES ? ':' : '=',
                           (unsigned long long)f.value);
  if (c.fault) snprintf(text + at, room - at, "%s!%s", at ? " " : "", c.fault);
}

static void fields(void **state) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *shown;
  } cases[] = {
      {"", 0, ""},
      {"\x08\x00", 2, "1=0"},
      {"\x08\xac\x02\x12\x03"
       "abc",
       8, "1=300 2:3"},
      {"\x08\x80\x80\x00", 4, "1=0"},                                                 /* padded */
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "1=18446744073709551615"}, /* -1 */
      {"\x09\x01\0\0\0\0\0\0\x80", 9, "1=9223372036854775809"},
      {"\x0d\x01\0\0\x80", 5, "1=2147483649"},
      {"\xf8\xff\xff\xff\x0f\x05", 6, "536870911=5"},
      {"\x12\x04\0a\0b", 6, "2:4"}, /* NUL inside text */
      {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12, "!varint of more than 10 bytes"},
      {"\x08", 1, "!message ends inside a field"},
      {"\x08\x80", 2, "!message ends inside a field"},
      {"\x12\x04"
       "abc",
       5, "!message ends inside a field"},
      {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "!message ends inside a field"},
      {"\x09\0\0\0", 4, "!message ends inside a field"},
      {"\x00\x01", 2, "!field number 0"},
      {"\x0e", 1, "!unknown wire type"},
      {"\x0f", 1, "!unknown wire type"},
      {"\x13\x14\x08\x01", 4, "1=1"}, /* an empty group */
      {"\x13\x08\x05\x1b\x12\x01z\x1c\x14\x08\x01", 11, "1=1"},
      {"\x13\x08\x05", 3, "!group that does not end"},
      {"\x13", 1, "!group that does not end"},
      {"\x14", 1, "!end of a group that did not start"},
      {"\x13\x1c", 2, "!end of a group that did not start"}, /* of a different number */
  };
  char text[256];
  (void)state;
  for (size_t i = 0; i < LENGTH(cases); i++) {
    uint8_t *exact = malloc(cases[i].n + 1); /* lets a sanitizer detect reading one byte too far */
    memcpy(exact, cases[i].bytes, cases[i].n);
    exact = realloc(exact, cases[i].n ? cases[i].n : 1);
    show(exact, cases[i].n, text, sizeof text);
    assert_string_equal(text, cases[i].shown);
    free(exact);
  }
}

/* Returns groups nested n deep, then field 1. */
static struct bytes groups(size_t n) {
  struct bytes b = {malloc(2 * n + 2), 2 * n + 2};
  memset(b.p, 0x13, n);
  memset(b.p + n, 0x14, n);
  memcpy(b.p + 2 * n, "\x08\x01", 2);
  return b;
}

static void deep_groups(void **state) {
  static const size_t depths[] = {1, 99, 100, 101, 10000};
  (void)state;
  for (size_t i = 0; i < LENGTH(depths); i++) {
    struct bytes b = groups(depths[i]);
    struct pb c = pb_over(b.p, b.n);
    struct pb_field f;
    bool ok = pb_next(&c, &f);
    assert_int_equal(ok, depths[i] <= PB_LEVELS);
    assert_int_equal(c.limit, depths[i] > PB_LEVELS);
    free(b.p);
  }
}

/* ---- over an input ---- */

struct drip {
  const uint8_t *p;
  size_t n, at, chunk;
};

static ptrdiff_t drip_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct drip *d = self;
  (void)err;
  if (n > d->chunk) n = d->chunk;
  if (n > d->n - d->at) n = d->n - d->at;
  if (n) memcpy(p, d->p + d->at, n);
  d->at += n;
  return (ptrdiff_t)n;
}

/* Prints the fields of an input as text; content is read and skipped alternately. */
static void show_in(const uint8_t *p, size_t n, size_t chunk, char *text, size_t room) {
  struct mem mem = {0};
  struct tk_err err;
  struct drip d = {p, n, 0, chunk};
  struct in *in = in_custom((struct in_source){.read = drip_read, .self = &d}, &mem, &err);
  struct pb_in s = {.in = in, .err = &err};
  struct pb_field f;
  const uint8_t *q;
  enum pb_status status;
  size_t at = 0;
  err_clear(&err);
  text[0] = 0;
  while ((status = pb_in_next(&s, UINT64_MAX, &f)) == PB_FIELD) {
    at += (size_t)snprintf(text + at, room - at, "%s%u%c%llu", at ? " " : "", f.number, f.wire == PB_BYTES ? ':' : '=',
                           (unsigned long long)f.value);
    if (f.wire == PB_BYTES && (status = f.number & 1 ? pb_in_skip(&s, f.value) : pb_in_bytes(&s, f.value, &q)) != PB_FIELD)
      break;
  }
  if (status == PB_CUT) snprintf(text + at, room - at, " cut");
  if (status == PB_FAIL) snprintf(text + at, room - at, " !%s", err.msg);
  in_close(in);
  assert_int_equal(mem.used, 0);
}

static void over_an_input(void **state) {
  static const char sound[] = "\x08\xac\x02\x12\x03"
                              "abc\x13\x08\x05\x12\x02yz\x14\x1a\x02hi\x20\x07";
  static const char *const shown = "1=300 2:3 3:2 4=7";
  static const size_t chunks[] = {1, 2, 7, 1000};
  char text[256];
  (void)state;
  for (size_t i = 0; i < LENGTH(chunks); i++) {
    show_in((const uint8_t *)sound, sizeof sound - 1, chunks[i], text, sizeof text);
    assert_string_equal(text, shown);
    for (size_t n = 0; n < sizeof sound - 1; n++) { /* truncated anywhere: a prefix of the fields, and never anything else */
      show_in((const uint8_t *)sound, n, chunks[i], text, sizeof text);
      char *mark = strpbrk(text, "!");
      char *cut = strstr(text, " cut");
      if (mark) assert_non_null(strstr(text, "group that does not end"));
      if (mark) mark[-1] = 0;
      if (cut) *cut = 0;
      assert_memory_equal(text, shown, strlen(text));
    }
  }
}

static void huge_lengths(void **state) {
  static const char bytes[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                              "abc",
                    even[] = "\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                             "abc";
  char text[256];
  (void)state;
  show_in((const uint8_t *)bytes, sizeof bytes - 1, 1, text, sizeof text);
  assert_non_null(strstr(text, " cut"));
  show_in((const uint8_t *)even, sizeof even - 1, 1, text, sizeof text);
  assert_non_null(strstr(text, " cut"));
}

static void deep_groups_of_an_input(void **state) {
  struct bytes b = groups(10000);
  char text[256];
  (void)state;
  show_in(b.p, b.n, 100, text, sizeof text);
  assert_non_null(strstr(text, "more than 100 levels deep"));
  free(b.p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields),
      cmocka_unit_test(deep_groups),
      cmocka_unit_test(over_an_input),
      cmocka_unit_test(huge_lengths),
      cmocka_unit_test(deep_groups_of_an_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
