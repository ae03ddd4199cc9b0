/* test_mangled.c - protobufs damaged by a text filter, and read errors in the middle of damage. */
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "format/pb_out.h"
#include "format/xplane/fields.h"
#include "format/xplane/xplane.h"
#include "help.h"

#define REPLACEMENT "\xef\xbf\xbd"

struct builder {
  struct mem mem;
  struct buf event, line, entry, plane, space;
};

static struct builder *begin(void) {
  struct builder *b = calloc(1, sizeof *b);
  assert_non_null(b);
  b->event.mem = b->line.mem = b->entry.mem = b->plane.mem = b->space.mem = &b->mem;
  return b;
}

static void end(struct builder *b) {
  buf_free(&b->event);
  buf_free(&b->line);
  buf_free(&b->entry);
  buf_free(&b->plane);
  buf_free(&b->space);
  free(b);
}

/* Adds a plane with n events of one name; the i-th is i * step ps after the start of its line. */
static void plane(struct builder *b, const char *name, unsigned n, uint64_t step) {
  b->line.len = b->entry.len = b->plane.len = 0;
  pb_u64(&b->line, XLINE_ID, 1);
  for (unsigned i = 0; i < n; i++) {
    b->event.len = 0;
    pb_u64(&b->event, XEVENT_METADATA_ID, 1);
    pb_u64(&b->event, XEVENT_OFFSET_PS, i * step);
    pb_u64(&b->event, XEVENT_DURATION_PS, 1);
    pb_message(&b->line, XLINE_EVENTS, &b->event);
  }
  b->event.len = 0;
  pb_u64(&b->event, XEVENT_METADATA_KEY, 1);
  pb_bytes(&b->event, XEVENT_METADATA_NAME, name, strlen(name));
  pb_u64(&b->entry, 1, 1);
  pb_message(&b->entry, 2, &b->event);
  pb_u64(&b->plane, XPLANE_ID, 1);
  pb_bytes(&b->plane, XPLANE_NAME, "/host:CPU", 9);
  pb_message(&b->plane, XPLANE_LINES, &b->line);
  pb_message(&b->plane, XPLANE_EVENT_METADATA, &b->entry);
  pb_message(&b->space, XSPACE_PLANES, &b->plane);
}

/* Replaces each byte above 0x7f with U+FFFD, as a text filter does with binary data. */
static void replace_high_bytes(const struct buf *in, struct buf *out) {
  const uint8_t *p = in->data;
  for (size_t i = 0; i < in->len; i++) {
    if (p[i] < 0x80) buf_append(out, p + i, 1);
    else buf_append(out, REPLACEMENT, 3);
  }
}

static bool is_refused(const struct buf *bytes) {
  struct tk_err err = {0};
  struct tk_trace *t = feed_bytes(bytes->data, bytes->len, (struct feed){.format = "xplane"}, &err);
  tk_free(t);
  return !t && strstr(err.msg, "EF BF BD");
}

/* A length of 128 to 16383 bytes becomes 1 to 267 MB, which is possible in a big file, so the bytes after the length must reveal the
 * damage. */
static void mangled(void **state) {
  static const unsigned events[] = {3, 4, 9, 10, 60, 300, 2000, 20000};
  (void)state;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    struct builder *b = begin();
    struct buf replaced = {.mem = &b->mem};
    plane(b, "e", events[i], 100003);
    replace_high_bytes(&b->space, &replaced);
    assert_true(utf8_is_replaced(replaced.data, replaced.len));
    assert_false(is_refused(&b->space));
    assert_true(is_refused(&replaced));
    assert_int_equal(mangled_damage(&xplane_shape, replaced.data, replaced.len, false), PB_MANGLED);
    buf_free(&replaced);
    end(b);
  }
}

/* Names may contain U+FFFD without other bytes above 0x7f: in a valid file, in one with newer fields, in a truncated one. */
static void names_of_replacements(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, REPLACEMENT REPLACEMENT REPLACEMENT, 2, 5);
  assert_true(utf8_is_replaced(b->space.data, b->space.len));
  assert_false(is_refused(&b->space));
  pb_bytes(&b->plane, 9, "new", 3);
  pb_message(&b->space, XSPACE_PLANES, &b->plane);
  pb_bytes(&b->space, 9, "new", 3);
  pb_u64(&b->space, 10, 5);
  assert_false(is_refused(&b->space));
  for (size_t n = b->space.len; n > 0; n--) assert_int_not_equal(mangled_damage(&xplane_shape, b->space.data, n, true), PB_MANGLED);
  end(b);
}

/* Reading ends with the input's error if the error is after unknown fields, where lookahead finds no data. */
static void faults_behind_odd_fields(void **state) {
  enum { SECONDS = 20 };
  struct builder *b = begin();
  (void)state;
  plane(b, "e", 8000, 100003);
  const size_t sound = b->space.len;
  b->plane.len = 0;
  for (unsigned i = 0; i < 200; i++) pb_u64(&b->plane, XPLANE_LINES + i % 3, i);
  pb_message(&b->space, XSPACE_PLANES, &b->plane);
  for (size_t at = sound + 1; at < b->space.len; at += 7) {
    struct tk_err err = {0};
    alarm(SECONDS);
    struct tk_trace *t = feed_bytes(b->space.data, b->space.len, (struct feed){.format = "xplane", .fail_at = at}, &err);
    alarm(0);
    assert_null(t);
    assert_int_equal(err.code, TK_EREAD);
  }
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mangled), cmocka_unit_test(names_of_replacements),
                                     cmocka_unit_test(faults_behind_odd_fields)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
