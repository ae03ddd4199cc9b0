/* unpack.c - see unpack.h. libarchive reads from the inner input and returns decompressed bytes. */
#include "unpack.h"

#include <stdio.h>
#include <string.h>

#include "layer.h"
#include "in.h"
#include "libarchive.h"
#include "packing.h"

struct unpack {
  struct mem *mem;
  bool member; /* true: a member of an archive; false: a compressed stream */
  struct in *inner;
  struct libarchive lib;
  struct archive *archive;
  size_t held;        /* bytes of the inner window in use by libarchive */
  uint64_t made, max; /* made: bytes produced; max: their limit, 0 = only the ratio is limited */
  struct tk_err err;  /* error of the inner input */
  bool noted;
  char name[64]; /* name of the member */
};

enum { RATIO = 1000 };
static const uint64_t SMALL = 1 << 30; /* output up to this size is allowed whatever its compression ratio */

static const char *member_name(const struct unpack *u, struct archive_entry *e) {
  const char *name = u->lib.archive_entry_pathname_utf8(e);
  if (!name) name = u->lib.archive_entry_pathname(e);
  return name ? name : "?";
}

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

static bool within_ratio(struct unpack *u, struct tk_err *err) {
  uint64_t in = in_raw_read(u->inner);
  if (u->max && u->made > u->max) return err_for(err, TK_OPTION_MAX_SIZE, TK_ELIMIT, "exceeds the maximum decompressed size");
  if (!u->max && u->made > SMALL && u->made / RATIO > in)
    return err_for(err, TK_OPTION_MAX_SIZE, TK_ELIMIT, "decompresses to more than %d times its size (a decompression bomb?)", RATIO);
  return true;
}

/* Finds the next regular file that does not belong to a file manager. */
static bool next_member(struct unpack *u, struct archive_entry **entry) {
  int status;
  do status = u->lib.archive_read_next_header(u->archive, entry);
  while (status == ARCHIVE_RETRY || ((status == ARCHIVE_OK || status == ARCHIVE_WARN) &&
                                     (u->lib.archive_entry_filetype(*entry) != AE_IFREG || packing_is_junk(member_name(u, *entry)))));
  return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

static void look_behind(struct unpack *u) {
  struct archive_entry *entry;
  if (u->noted || !next_member(u, &entry)) return;
  in_add_note(u->inner, true, UINT64_MAX, "archive: only member %s was read, not %.64s (save the archive to a file to read all)",
              u->name, member_name(u, entry));
  u->noted = true;
}

static ptrdiff_t unpack_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct unpack *u = self;
  la_ssize_t got = u->lib.archive_read_data(u->archive, out, n);
  if (got == 0 && u->member) look_behind(u);
  if (got >= 0) {
    u->made += (uint64_t)got;
    return within_ratio(u, err) ? (ptrdiff_t)got : -1;
  }
  if (u->err.code != TK_OK) {
    *err = u->err;
    return -1;
  }
  if (u->made == 0) {
    err_set(err, TK_ECORRUPT, "cannot be decompressed: %s", u->lib.archive_error_string(u->archive));
    return -1;
  }
  if (!u->noted)
    in_add_note(u->inner, true, in_raw_offset(u->inner), "compressed data damaged or truncated; what came before was read");
  u->noted = true;
  in_set_damaged(u->inner);
  return 0;
}

static void unpack_close(void *self) {
  struct unpack *u = self;
  if (u->archive) u->lib.archive_read_free(u->archive);
  in_close(u->inner);
  mem_free(u->mem, u);
}

static bool archive_fault(struct unpack *u, struct tk_err *err) {
  if (u->err.code != TK_OK && err && err->code == TK_OK) *err = u->err;
  return err_set(err, TK_ECORRUPT, u->member ? "archive: %s" : "cannot be decompressed: %s", u->lib.archive_error_string(u->archive));
}

static bool start_archive(struct unpack *u, struct tk_err *err) {
  if (!libarchive_find(&u->lib, err)) return false;
  u->archive = u->lib.archive_read_new();
  return u->archive || err_set(err, TK_ELIMIT, "out of memory");
}

static bool start_stream(struct unpack *u, struct tk_err *err) {
  struct archive_entry *entry;
  u->lib.archive_read_support_filter_zstd(u->archive);
  u->lib.archive_read_support_filter_xz(u->archive);
  u->lib.archive_read_support_filter_bzip2(u->archive);
  u->lib.archive_read_support_format_raw(u->archive);
  return (u->lib.archive_read_open(u->archive, u, NULL, pull, NULL) == ARCHIVE_OK &&
          u->lib.archive_read_next_header(u->archive, &entry) == ARCHIVE_OK) || archive_fault(u, err);
}

static bool start_member(struct unpack *u, struct tk_err *err) {
  struct archive_entry *entry;
  u->lib.archive_read_support_format_tar(u->archive);
  u->lib.archive_read_support_format_zip_streamable(u->archive);
  if (u->lib.archive_read_open(u->archive, u, NULL, pull, NULL) != ARCHIVE_OK) return archive_fault(u, err);
  if (!next_member(u, &entry))
    return u->lib.archive_errno(u->archive) ? archive_fault(u, err) : err_set(err, TK_EFORMAT, "archive is empty");
  snprintf(u->name, sizeof u->name, "%s", member_name(u, entry));
  in_add_note(u->inner, false, UINT64_MAX, "archive: reading member %s", u->name);
  return true;
}

/* Detects the compressions that libarchive handles: all except gzip. */
static const struct packing *foreign_packing(const uint8_t *p, size_t n) {
  const struct packing *packing = packing_of_bytes(p, n);
  return packing == packing_row(PACKING_GZIP) ? NULL : packing;
}

static struct in *layer_over(struct in *inner, bool member, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct unpack *u = mem_alloc(mem, sizeof *u);
  if (!u) {
    mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *u = (struct unpack){.mem = mem, .member = member, .inner = inner, .max = max_size, .err = {.offset = UINT64_MAX}};
  if (start_archive(u, err) && (member ? start_member : start_stream)(u, err))
    return in_layer((struct in_source){.read = unpack_read, .close = unpack_close, .self = u}, inner, mem, err);
  unpack_close(u);
  return NULL;
}

struct in *unpack_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(inner, 6, &n, err);
  if (!p) {
    in_close(inner);
    return NULL;
  }
  const struct packing *packing = foreign_packing(p, n);
  if (!packing) return inner;
  if (!packing->written) in_add_note(inner, false, 0, "%s-compressed", packing->name); /* few other tools can read this compression */
  return layer_over(inner, false, max_size, mem, err);
}

/* ---- archives ---- */

struct in *unpack_member(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(inner, ARCHIVE_HEAD, &n, err);
  enum packing_archive_kind magic = p ? packing_archive_kind(p, n) : ARCHIVE_NONE;
  if (p && magic == ARCHIVE_NONE) return inner;
  if (p && magic != ARCHIVE_7Z) return layer_over(inner, true, max_size, mem, err);
  if (p) err_set(err, TK_EFORMAT, "a 7z archive cannot be read from a pipe or from inside another archive; save it to a file");
  in_close(inner);
  return NULL;
}
