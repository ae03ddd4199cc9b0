/* zstd.c - a zstd stream by libarchive, which is linked anyway: an "archive" of raw bytes with one member and a zstd filter.
 *
 * One frame of fixed settings, so equal contents give equal bytes.  A libarchive that would start the program `zstd` instead is
 * refused: what the library does must not depend on a PATH. */
#include "zstd.h"

#include <stdio.h>
#include <archive.h>
#include <archive_entry.h>

struct zstd_out {
  struct mem *mem;
  struct archive *archive;
  zstd_take *take;
  void *arg;
  bool ended;
};

static la_ssize_t pass_on(struct archive *a, void *self, const void *p, size_t n) {
  struct zstd_out *z = self;
  (void)a;
  z->take(z->arg, p, n);
  return (la_ssize_t)n;
}

static bool archive_fault(const struct zstd_out *z, struct tk_err *err) {
  const char *why = archive_error_string(z->archive);
  return err_set(err, TK_EWRITE, "zstd: %s", why ? why : "cannot be compressed");
}

/* Nine steps over the levels of zstd; 3 is its own default. */
static bool set_level(struct zstd_out *z, int level) {
  static const int levels[] = {3, 1, 2, 3, 5, 7, 9, 12, 15, 19};
  char text[8];
  snprintf(text, sizeof text, "%d", levels[level < 0 ? 0 : level > 9 ? 9 : level]);
  return archive_write_set_filter_option(z->archive, "zstd", "compression-level", text) == ARCHIVE_OK;
}

static bool begin(struct zstd_out *z, int level) {
  struct archive_entry *entry;
  bool ok;
  if (archive_write_set_format_raw(z->archive) != ARCHIVE_OK || archive_write_add_filter_zstd(z->archive) != ARCHIVE_OK) return false;
  if (!set_level(z, level) || archive_write_set_bytes_per_block(z->archive, 0) != ARCHIVE_OK) return false;
  if (archive_write_open(z->archive, z, NULL, pass_on, NULL) != ARCHIVE_OK) return false;
  entry = archive_entry_new();
  if (!entry) return false;
  archive_entry_set_filetype(entry, AE_IFREG);
  ok = archive_write_header(z->archive, entry) == ARCHIVE_OK;
  archive_entry_free(entry);
  return ok;
}

struct zstd_out *zstd_open(int level, zstd_take *take, void *arg, struct mem *mem, struct tk_err *err) {
  struct zstd_out *z = mem_alloc(mem, sizeof *z);
  if (!z) {
    mem_check(mem, err);
    return NULL;
  }
  *z = (struct zstd_out){.mem = mem, .archive = archive_write_new(), .take = take, .arg = arg};
  if (z->archive && begin(z, level)) return z;
  if (z->archive) archive_fault(z, err);
  else err_set(err, TK_ELIMIT, "out of memory");
  zstd_close(z);
  return NULL;
}

bool zstd_write(struct zstd_out *z, const void *p, size_t n, struct tk_err *err) {
  const uint8_t *at = p;
  while (n > 0) {
    la_ssize_t took = archive_write_data(z->archive, at, n);
    if (took <= 0) return archive_fault(z, err);
    at += took;
    n -= (size_t)took;
  }
  return true;
}

bool zstd_end(struct zstd_out *z, struct tk_err *err) {
  z->ended = true;
  return archive_write_close(z->archive) == ARCHIVE_OK || archive_fault(z, err);
}

/* An output that was given up must not be finished: nothing takes its bytes any more. */
static void drop_output(void *arg, const void *p, size_t n) { (void)arg, (void)p, (void)n; }

void zstd_close(struct zstd_out *z) {
  if (!z) return;
  if (!z->ended) z->take = drop_output;
  if (z->archive) archive_write_free(z->archive);
  mem_free(z->mem, z);
}
