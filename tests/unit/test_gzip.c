/* test_gzip.c - the gunzip layer on complete, truncated, damaged and hostile gzip files: the same result with both inflaters
 * and with every chunking. */
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
#include <zlib.h>

#include "base/os.h"
#include "io/layer.h"
#include "io/gzip.h"

static struct mem pool; /* for the test's own data, not for the code under test */

/* ---- making gzip files -------------------------------------------------------------------------------------------- */

static void add(struct buf *b, const void *p, size_t n) {
  if (n > 0) assert_true(buf_append(b, p, n));
}

static void add_le(struct buf *b, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) {
    uint8_t c = (uint8_t)(v >> 8 * i);
    add(b, &c, 1);
  }
}

static void add_deflated(struct buf *b, const void *data, size_t n) {
  z_stream z = {0};
  size_t room = n + n / 100 + 1000;
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  assert_non_null(buf_reserve(b, room));
  z.next_in = (Bytef *)(uintptr_t)data;
  z.avail_in = (uInt)n;
  z.next_out = b->data + b->len;
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  b->len += room - z.avail_out;
  deflateEnd(&z);
}

static void add_header(struct buf *b, unsigned flags) {
  add_le(b, 0x088b1f, 3);
  add_le(b, flags, 1);
  add_le(b, 0, 5); /* time, level */
  add_le(b, 255, 1);
}

static void add_member(struct buf *b, const void *data, size_t n) {
  add_header(b, 0);
  add_deflated(b, data, n);
  add_le(b, crc32(0, data, (uInt)n), 4);
  add_le(b, n, 4);
}

/* Makes text that compresses about as well as a trace. */
static struct buf sample(size_t n) {
  struct buf b = {.mem = &pool};
  char line[128];
  for (uint32_t i = 0, r = 1; b.len < n; i++) {
    r = r * 1664525 + 1013904223;
    add(&b, line, (size_t)snprintf(line, sizeof line, "{\"ph\":\"X\",\"name\":\"op%u\",\"ts\":%u.%03u,\"dur\":%u},\n", r >> 28,
                                   i * 13, r >> 22, r >> 16 & 0xfff));
  }
  b.len = n;
  return b;
}

/* ---- reading gzip files -------------------------------------------------------------------------------------------- */

struct chunks {
  const uint8_t *p;
  size_t n, chunk, fail_at;
};

static ptrdiff_t chunks_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct chunks *c = self;
  if (c->fail_at == 0) {
    err_sys(err, TK_EREAD, EIO, "cannot read");
    return -1;
  }
  if (n > c->chunk) n = c->chunk;
  if (n > c->n) n = c->n;
  if (n > c->fail_at) n = c->fail_at;
  if (n == 0) return 0;
  memcpy(p, c->p, n);
  c->p += n;
  c->n -= n;
  c->fail_at -= n;
  return (ptrdiff_t)n;
}

struct result {
  struct buf out;
  struct tk_err err;
  size_t notes, repairs;
  uint64_t note_at;
  char note[200];
};

struct how {
  enum flate_backend backend;
  size_t chunk;
  uint64_t max_size;
  size_t fail_at; /* 0 = never */
};

static struct result gunzip(const struct buf *b, struct how how) {
  struct mem mem = {0};
  struct result r = {.out = {.mem = &pool}, .err = {.offset = UINT64_MAX}};
  struct chunks c = {.p = b->data, .n = b->len, .chunk = how.chunk ? how.chunk : SIZE_MAX};
  const struct in_note *notes;
  struct in *in;
  const uint8_t *p;
  size_t avail;
  c.fail_at = how.fail_at ? how.fail_at : SIZE_MAX;
  in = in_custom((struct in_source){.read = chunks_read, .self = &c}, &mem, NULL);
  in = gzip_open_with(how.backend, in, how.max_size, &mem, &r.err);
  while (in && (p = in_ahead(in, 1, &avail, &r.err)) && avail) {
    add(&r.out, p, avail);
    in_consume(in, avail);
  }
  r.notes = in ? in_notes(in, &notes) : 0;
  for (size_t i = 0; i < r.notes; i++) {
    r.repairs += notes[i].repair;
    r.note_at = notes[i].offset;
    snprintf(r.note, sizeof r.note, "%s", notes[i].text);
  }
  in_close(in);
  assert_int_equal(mem.used, 0);
  return r;
}

/* The result that every backend must give, with every chunking. */
struct expect {
  enum tk_code code;
  size_t repairs;
  const struct buf *data; /* NULL = nothing */
  const char *says;       /* part of the error or note */
};

static void expect(const struct buf *b, struct expect e) {
  static const size_t chunks[] = {0, 1, 2, 13, 4096};
  for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
    for (size_t i = 0; flate_has(backend) && i < sizeof chunks / sizeof *chunks; i++) {
      struct result r = gunzip(b, (struct how){.backend = backend, .chunk = chunks[i]});
      assert_int_equal(r.err.code, e.code);
      assert_int_equal(r.repairs, e.repairs);
      assert_int_equal(r.out.len, e.data ? e.data->len : 0);
      if (r.out.len) assert_memory_equal(r.out.data, e.data->data, r.out.len);
      if (e.says) assert_non_null(strstr(e.code ? r.err.msg : r.note, e.says));
      if (e.code) assert_int_not_equal(r.err.offset, UINT64_MAX);
      buf_free(&r.out);
    }
  }
}

/* ---- complete files ------------------------------------------------------------------------------------------------ */

static void plain_members(void **state) {
  struct buf data = sample(5000), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  expect(&b, (struct expect){.data = &data});
  b.len = 0;
  add_member(&b, "", 0); /* empty members at the start, in the middle and at the end */
  add_member(&b, data.data, 1000);
  add_member(&b, "", 0);
  add_member(&b, data.data + 1000, 4000);
  add_member(&b, "", 0);
  expect(&b, (struct expect){.data = &data});
  add(&b, "\0\0\0\0\0\0\0", 7);
  expect(&b, (struct expect){.data = &data});
  add_member(&b, data.data, 0);
  expect(&b, (struct expect){.data = &data});
  b.len = 0;
  for (size_t i = 0; i < data.len; i++) add_member(&b, data.data + i, 1);
  expect(&b, (struct expect){.data = &data});
  buf_free(&b);
  buf_free(&data);
}

static void nothing(void **state) {
  struct buf b = {.mem = &pool};
  (void)state;
  add_member(&b, "", 0);
  expect(&b, (struct expect){0});
  buf_free(&b);
}

/* All optional fields at once, with the extra field of BGZF. */
static void optional_fields(void **state) {
  struct buf data = sample(3000), b = {.mem = &pool};
  (void)state;
  add_header(&b, 2 | 4 | 8 | 16 | 1);
  add_le(&b, 6, 2);
  add(&b, "BC\2\0\x44\x33", 6);
  add(&b, "trace.json", 11);
  add(&b, "a comment", 10);
  add_le(&b, crc32(0, b.data, (uInt)b.len) & 0xffff, 2);
  add_deflated(&b, data.data, data.len);
  add_le(&b, crc32(0, data.data, (uInt)data.len), 4);
  add_le(&b, data.len, 4);
  expect(&b, (struct expect){.data = &data});
  b.data[20]++; /* a letter of the name: only the header's checksum can detect it */
  expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "checksum of a header"});
  buf_free(&b);
  buf_free(&data);
}

static void not_gzip(void **state) {
  static const char *const texts[] = {"", "\x1f", "{\"traceEvents\":[]}", "\x1f\x8c\x08\x00", "\x0a\x1f\x8b\x08"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct buf b = {.mem = &pool};
    add(&b, texts[i], strlen(texts[i]));
    expect(&b, (struct expect){.data = &b});
    buf_free(&b);
  }
}

/* ---- damage ------------------------------------------------------------------------------------------------------- */

static void bad_headers(void **state) {
  struct buf data = sample(100), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  b.data[2] = 7;
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "method"});
  b.data[2] = 8;
  b.data[3] = 0x40;
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "reserved"});
  b.data[3] = 0;
  b.len = 5;
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "truncated header"});
  b.len = 0;
  add_header(&b, 8);
  for (int i = 0; i < 70000; i++) add(&b, "x", 1);
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "unterminated"});
  b.len = 1000;
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "truncated header"});
  b.len = 10;
  b.data[3] = 4;
  add_le(&b, 60000, 2);
  add(&b, "short", 5);
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "truncated header"});
  buf_free(&b);
  buf_free(&data);
}

static void bad_trailers(void **state) {
  struct buf data = sample(2000), b = {.mem = &pool};
  size_t n;
  (void)state;
  add_member(&b, data.data, data.len);
  n = b.len;
  b.data[n - 1] ^= 1;
  expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "size"});
  b.data[n - 1] ^= 1;
  for (size_t cut = 1; cut <= 8; cut++) {
    b.len = n - cut;
    expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "very end"});
  }
  b.len = n;
  b.data[n - 8] ^= 1;
  expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "values may be wrong"});
  b.len = n - 4;
  expect(&b, (struct expect){.data = &data, .repairs = 2, .says = "very end"});
  buf_free(&b);
  buf_free(&data);
}

static void trailing_garbage(void **state) {
  static const char *const garbage[] = {"garbage", "\x1f", "\x1f\x8b", "\x1f\x8b\x07gzip?", "\x1f\x8b\x08\xe0 reserved"};
  struct buf data = sample(2000), b = {.mem = &pool};
  size_t n;
  (void)state;
  add_member(&b, data.data, data.len);
  n = b.len;
  for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
    b.len = n;
    add(&b, garbage[i], strlen(garbage[i]));
    expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "after the last member"});
    b.len = n;
    add_le(&b, 0, 5);
    add(&b, garbage[i], strlen(garbage[i]));
    expect(&b, (struct expect){.data = &data, .repairs = 1, .says = "after the last member"});
  }
  buf_free(&b);
  buf_free(&data);
}

/* Truncation at any byte gives a prefix and a note, or an error if no output is possible. */
static void cuts(void **state) {
  struct buf data = sample(700), b = {.mem = &pool};
  size_t n, last = 0;
  (void)state;
  add_member(&b, data.data, data.len);
  n = b.len;
  for (size_t cut = 2; cut < n; cut++) {
    size_t first = SIZE_MAX;
    b.len = cut;
    for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
      for (size_t chunk = 0; flate_has(backend) && chunk < 3; chunk++) {
        struct result r = gunzip(&b, (struct how){.backend = backend, .chunk = chunk});
        assert_true(r.out.len <= data.len);
        if (r.out.len) assert_memory_equal(r.out.data, data.data, r.out.len);
        assert_int_equal(r.repairs, r.out.len > 0);
        assert_int_equal(r.err.code, r.out.len > 0 ? TK_OK : TK_ECORRUPT);
        if (first == SIZE_MAX) first = r.out.len;
        assert_int_equal(r.out.len, first);
        buf_free(&r.out);
      }
    }
    assert_true(first >= last);
    last = first;
  }
  assert_int_equal(last, data.len);
  buf_free(&b);
  buf_free(&data);
}

/* Flips each single bit: output without an error or a note must be correct. Whether an error or a note results may depend on
 * the inflater: ISA-L accepts incomplete code sets, which zlib rejects, and reads on to the end. */
static void flipped_bits(void **state) {
  struct buf data = sample(400), b = {.mem = &pool};
  size_t errors = 0, silent = 0;
  (void)state;
  add_member(&b, data.data, data.len);
  for (size_t bit = 16; bit < b.len * 8; bit++) {
    bool right[2] = {false, false};
    b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
      struct result r;
      if (!flate_has(backend)) continue;
      r = gunzip(&b, (struct how){.backend = backend});
      right[backend - FLATE_ZLIB] = r.err.code == TK_OK && r.notes == 0;
      if (right[backend - FLATE_ZLIB]) {
        assert_int_equal(r.out.len, data.len);
        assert_memory_equal(r.out.data, data.data, data.len);
        silent++;
      }
      errors += r.err.code == TK_ECORRUPT;
      buf_free(&r.out);
    }
    if (flate_has(FLATE_ISAL)) assert_int_equal(right[0], right[1]);
    b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  assert_true(errors > silent * 5); /* silent: time, level and system in the header */
  buf_free(&b);
  buf_free(&data);
}

/* Damage in the middle of a long file: everything before it is read. */
static void damage_in_the_middle(void **state) {
  struct buf data = sample(2000000), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  for (uint32_t i = 0, r = 1; i < 30000; i++, r = r * 1664525 + 1013904223) b.data[b.len / 2 + i] ^= (uint8_t)(r >> 24);
  for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
    struct result r;
    if (!flate_has(backend)) continue;
    r = gunzip(&b, (struct how){.backend = backend, .chunk = 10000});
    assert_int_equal(r.err.code, TK_OK);
    assert_int_equal(r.repairs, 1);
    assert_non_null(strstr(r.note, "damaged at byte"));
    assert_true(r.note_at >= b.len / 2 && r.note_at < b.len);
    assert_true(r.out.len > data.len * 4 / 10);
    assert_memory_equal(r.out.data, data.data, data.len * 4 / 10);
    buf_free(&r.out);
  }
  b.data[10] = 7; /* the first block has the invalid type 3 */
  expect(&b, (struct expect){.code = TK_ECORRUPT, .says = "damaged"});
  buf_free(&b);
  buf_free(&data);
}

static void inner_faults(void **state) {
  struct buf data = sample(3000), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  for (size_t at = 1; at <= b.len; at++) {
    for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
      struct result r;
      if (!flate_has(backend)) continue;
      r = gunzip(&b, (struct how){.backend = backend, .fail_at = at});
      assert_int_equal(r.err.code, TK_EREAD);
      assert_int_equal(r.err.sys, EIO);
      assert_int_equal(r.notes, 0);
      if (r.out.len) assert_memory_equal(r.out.data, data.data, r.out.len);
      buf_free(&r.out);
    }
  }
  buf_free(&b);
  buf_free(&data);
}

/* ---- limits ------------------------------------------------------------------------------------------------------- */

static void max_size(void **state) {
  struct buf data = sample(300000), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  for (int backend = FLATE_ZLIB; backend <= FLATE_ISAL; backend++) {
    struct result r;
    if (!flate_has(backend)) continue;
    r = gunzip(&b, (struct how){.backend = backend, .max_size = data.len});
    assert_int_equal(r.err.code, TK_OK);
    assert_int_equal(r.out.len, data.len);
    buf_free(&r.out);
    r = gunzip(&b, (struct how){.backend = backend, .max_size = data.len - 1});
    assert_int_equal(r.err.code, TK_ELIMIT);
    assert_int_equal(r.out.len, data.len - 1);
    assert_int_equal(r.err.option, TK_OPTION_MAX_SIZE);
    buf_free(&r.out);
  }
  buf_free(&b);
  buf_free(&data);
}

/* An input that repeats a compressed member of zeros without end. */
struct bomb {
  struct buf member;
  size_t at;
};

static ptrdiff_t bomb_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct bomb *b = self;
  (void)err;
  if (n > b->member.len - b->at) n = b->member.len - b->at;
  memcpy(p, b->member.data + b->at, n);
  b->at = (b->at + n) % b->member.len;
  return (ptrdiff_t)n;
}

static void bomb(void **state) {
  enum { N = 64 << 20 };
  struct bomb b = {.member = {.mem = &pool}};
  struct mem mem = {0};
  struct tk_err err = {0};
  uint8_t *data = calloc(N, 1);
  struct in *in;
  size_t avail;
  (void)state;
  assert_non_null(data);
  add_member(&b.member, data, N);
  free(data);
  in = in_custom((struct in_source){.read = bomb_read, .self = &b}, &mem, NULL);
  in = gzip_open(in, 0, &mem, &err);
  assert_non_null(in);
  while (in_ahead(in, 1, &avail, &err) && in_offset(in) < (uint64_t)4 << 30) in_consume(in, avail);
  assert_int_equal(err.code, TK_ELIMIT);
  assert_true(in_offset(in) >= (uint64_t)1 << 30 && in_offset(in) < ((uint64_t)1 << 30) + N);
  in_close(in);
  assert_int_equal(mem.used, 0);
  buf_free(&b.member);
}

static void out_of_memory(void **state) {
  struct buf data = sample(3000), b = {.mem = &pool};
  (void)state;
  add_member(&b, data.data, data.len);
  for (uint64_t limit = 1000; limit < 700000; limit += 9973) {
    struct mem mem = {.limit = limit};
    struct tk_err err = {0};
    struct in *in = in_memory(b.data, b.len, &mem, &err);
    if (in) in = gzip_open(in, 0, &mem, &err);
    assert_int_equal(err.code, in ? TK_OK : TK_ELIMIT);
    in_close(in);
    assert_int_equal(mem.used, 0);
  }
  buf_free(&b);
  buf_free(&data);
}

/* ---- gzip files by name -------------------------------------------------------------------------------------------- */

static void gzip_in_gzip(void **state) {
  char name[] = "/tmp/tracekit-gz-XXXXXX";
  struct buf data = sample(3000), once = {.mem = &pool}, twice = {.mem = &pool};
  struct mem mem = {0};
  const struct in_note *notes;
  struct in *in;
  size_t avail;
  int fd = mkstemp(name);
  (void)state;
  add_member(&once, data.data, data.len);
  add(&once, "garbage", 7);
  add_member(&twice, once.data, once.len);
  assert_true(os_write(fd, twice.data, twice.len));
  close(fd);
  in = in_open(name, 0, &mem, NULL);
  assert_non_null(in);
  assert_memory_equal(in_ahead(in, data.len + 1, &avail, NULL), data.data, data.len);
  assert_int_equal(avail, data.len);
  assert_int_equal(in_raw_read(in), twice.len);
  assert_int_equal(in_raw_total(in), twice.len);
  assert_int_equal(in_notes(in, &notes), 1);
  in_close(in);
  assert_int_equal(mem.used, 0);
  unlink(name);
  buf_free(&once);
  buf_free(&twice);
  buf_free(&data);
}

static void crc(void **state) {
  struct buf data = sample(1000);
  (void)state;
  assert_int_equal(flate_crc(0, "123456789", 9), 0xcbf43926);
  assert_int_equal(flate_crc(flate_crc(0, data.data, 333), data.data + 333, 667), crc32(0, data.data, 1000));
  buf_free(&data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(plain_members),
    cmocka_unit_test(nothing),
    cmocka_unit_test(optional_fields),
    cmocka_unit_test(not_gzip),
    cmocka_unit_test(bad_headers),
    cmocka_unit_test(bad_trailers),
    cmocka_unit_test(trailing_garbage),
    cmocka_unit_test(cuts),
    cmocka_unit_test(flipped_bits),
    cmocka_unit_test(damage_in_the_middle),
    cmocka_unit_test(inner_faults),
    cmocka_unit_test(max_size),
    cmocka_unit_test(bomb),
    cmocka_unit_test(out_of_memory),
    cmocka_unit_test(gzip_in_gzip),
    cmocka_unit_test(crc),
  };
  return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
