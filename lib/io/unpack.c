/* unpack.c - see unpack.h.  libarchive pulls from the inner input and gives out what its filter makes of it. */
#include "unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "layer.h"

struct unpack {
  struct mem *mem;
  struct in *inner;
  struct archive *archive;
  size_t held;        /* bytes of the inner window that libarchive looks at */
  uint64_t made, max; /* max 0: the ratio guard */
  struct tk_err err;  /* of the inner input */
  bool noted;
};

enum { RATIO = 1000 };
static const uint64_t SMALL = 1 << 30; /* what may come out whatever the ratio */

static la_ssize_t pull(struct archive *a, void *self, const void **p) {
  struct unpack *u = self;
  size_t n;
  (void)a;
  in_consume(u->inner, u->held);
  u->held = 0;
  *p = in_ahead(u->inner, 1, &n, &u->err);
  if (!*p) return -1;
  u->held = n;
  return (la_ssize_t)n;
}

static bool within(struct unpack *u, struct tk_err *err) {
  uint64_t in = in_raw_read(u->inner);
  if (u->max && u->made > u->max) return err_set(err, TK_ELIMIT, "decompresses to more than --max-size");
  if (!u->max && u->made > SMALL && u->made / RATIO > in)
    return err_set(err, TK_ELIMIT, "decompresses to more than %d times its size (a bomb? --max-size lifts this)", RATIO);
  return true;
}

static ptrdiff_t unpack_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct unpack *u = self;
  la_ssize_t got = archive_read_data(u->archive, out, n);
  if (got >= 0) {
    u->made += (uint64_t)got;
    return within(u, err) ? (ptrdiff_t)got : -1;
  }
  if (u->err.code != TK_OK) {
    *err = u->err;
    return -1;
  }
  if (u->made == 0) {
    err_set(err, TK_ECORRUPT, "cannot be decompressed: %s", archive_error_string(u->archive));
    return -1;
  }
  if (!u->noted) in_add_note(u->inner, true, in_raw_offset(u->inner), "compressed data damaged or cut: what came before was read");
  u->noted = true;
  return 0;
}

static void unpack_close(void *self) {
  struct unpack *u = self;
  archive_read_free(u->archive);
  in_close(u->inner);
  mem_resize(u->mem, u, sizeof *u, 0);
}

static bool start(struct unpack *u, struct tk_err *err) {
  struct archive_entry *entry;
  struct archive *a = u->archive = archive_read_new();
  if (!a) return err_set(err, TK_ELIMIT, "out of memory");
  archive_read_support_filter_zstd(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_bzip2(a);
  archive_read_support_format_raw(a);
  if (archive_read_open(a, u, NULL, pull, NULL) != ARCHIVE_OK || archive_read_next_header(a, &entry) != ARCHIVE_OK) {
    if (u->err.code != TK_OK) *err = u->err;
    return err_set(err, TK_ECORRUPT, "cannot be decompressed: %s", archive_error_string(a));
  }
  return true;
}

static const struct {
  const char *magic;
  size_t n;
  const char *remark; /* worth saying: few tools read it */
} KINDS[] = {{"\x28\xb5\x2f\xfd", 4, NULL}, {"\xfd" "7zXZ", 6, "xz-compressed"}, {"BZh", 3, "bzip2-compressed"}};

struct in *in_unpack(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  size_t n, kind = 0;
  const uint8_t *p = in_ahead(inner, 6, &n, err);
  struct unpack *u;
  while (p && kind < 3 && (n < KINDS[kind].n || memcmp(p, KINDS[kind].magic, KINDS[kind].n) != 0)) kind++;
  if (p && kind == 3) return inner;
  u = p ? mem_resize(mem, NULL, 0, sizeof *u) : NULL;
  if (!u) {
    if (p) mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *u = (struct unpack){.mem = mem, .inner = inner, .max = max_size, .err = {.offset = UINT64_MAX}};
  if (KINDS[kind].remark) in_add_note(inner, false, 0, "%s", KINDS[kind].remark);
  if (start(u, err)) return in_layer((struct in_source){unpack_read, unpack_close, u, 0}, inner, mem, err);
  unpack_close(u);
  return NULL;
}
