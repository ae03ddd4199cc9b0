/* unpack.c - see unpack.h.  libarchive pulls from the inner input and gives out what its filter makes of it. */
#include "unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "archive.h"
#include "layer.h"

struct unpack {
  struct mem *mem;
  bool member; /* of an archive, not a stream */
  struct in *inner;
  struct archive *archive;
  size_t held;        /* bytes of the inner window that libarchive looks at */
  uint64_t made, max; /* max 0: the ratio guard */
  struct tk_err err;  /* of the inner input */
  bool noted;
  char name[64]; /* of the member */
};

enum { RATIO = 1000 };
static const uint64_t SMALL = 1 << 30; /* what may come out whatever the ratio */

static const char *member_name(struct archive_entry *e) {
  const char *name = archive_entry_pathname_utf8(e);
  if (!name) name = archive_entry_pathname(e);
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

static bool within(struct unpack *u, struct tk_err *err) {
  uint64_t in = in_raw_read(u->inner);
  if (u->max && u->made > u->max) return err_set(err, TK_ELIMIT, "decompresses to more than --max-size");
  if (!u->max && u->made > SMALL && u->made / RATIO > in)
    return err_set(err, TK_ELIMIT, "decompresses to more than %d times its size (a bomb? --max-size lifts this)", RATIO);
  return true;
}

/* The next regular file that is not a file manager's. */
static bool next_member(struct unpack *u, struct archive_entry **entry) {
  int status;
  do status = archive_read_next_header(u->archive, entry);
  while (status == ARCHIVE_RETRY || ((status == ARCHIVE_OK || status == ARCHIVE_WARN) &&
                                     (archive_entry_filetype(*entry) != AE_IFREG || arc_is_junk(member_name(*entry)))));
  return status == ARCHIVE_OK || status == ARCHIVE_WARN;
}

static void look_behind(struct unpack *u) {
  struct archive_entry *entry;
  if (u->noted || !next_member(u, &entry)) return;
  in_add_note(u->inner, true, UINT64_MAX, "archive: only its member %s was read, not %.64s (save it to a file to read all)", u->name,
              member_name(entry));
  u->noted = true;
}

static ptrdiff_t unpack_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct unpack *u = self;
  la_ssize_t got = archive_read_data(u->archive, out, n);
  if (got == 0 && u->member) look_behind(u);
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
  in_set_damaged(u->inner);
  return 0;
}

static void unpack_close(void *self) {
  struct unpack *u = self;
  archive_read_free(u->archive);
  in_close(u->inner);
  mem_free(u->mem, u);
}

static bool fault(struct unpack *u, struct tk_err *err) {
  if (u->err.code != TK_OK && err && err->code == TK_OK) *err = u->err;
  return err_set(err, TK_ECORRUPT, u->member ? "archive: %s" : "cannot be decompressed: %s", archive_error_string(u->archive));
}

static bool start_stream(struct unpack *u, struct tk_err *err) {
  struct archive_entry *entry;
  archive_read_support_filter_zstd(u->archive);
  archive_read_support_filter_xz(u->archive);
  archive_read_support_filter_bzip2(u->archive);
  archive_read_support_format_raw(u->archive);
  return (archive_read_open(u->archive, u, NULL, pull, NULL) == ARCHIVE_OK &&
          archive_read_next_header(u->archive, &entry) == ARCHIVE_OK) || fault(u, err);
}

static bool start_member(struct unpack *u, struct tk_err *err) {
  struct archive_entry *entry;
  archive_read_support_format_tar(u->archive);
  archive_read_support_format_zip_streamable(u->archive);
  if (archive_read_open(u->archive, u, NULL, pull, NULL) != ARCHIVE_OK) return fault(u, err);
  if (!next_member(u, &entry)) return archive_errno(u->archive) ? fault(u, err) : err_set(err, TK_EFORMAT, "archive: nothing is in it");
  snprintf(u->name, sizeof u->name, "%s", member_name(entry));
  in_add_note(u->inner, false, UINT64_MAX, "archive: its member %s is read", u->name);
  return true;
}

static const struct {
  const char *magic;
  size_t n;
  const char *remark; /* worth saying: few tools read it */
} KINDS[] = {{"\x28\xb5\x2f\xfd", 4, NULL}, {"\xfd" "7zXZ", 6, "xz-compressed"}, {"BZh", 3, "bzip2-compressed"}};
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static size_t kind_of(const uint8_t *p, size_t n) {
  size_t kind = 0;
  while (kind < N_KINDS && (n < KINDS[kind].n || memcmp(p, KINDS[kind].magic, KINDS[kind].n) != 0)) kind++;
  return kind;
}

bool in_is_packed(const uint8_t *p, size_t n) { return kind_of(p, n) < N_KINDS || (n >= 2 && p[0] == 0x1f && p[1] == 0x8b); }

static struct in *layer_over(struct in *inner, bool member, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct unpack *u = mem_alloc(mem, sizeof *u);
  if (!u) {
    mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *u = (struct unpack){.mem = mem, .member = member, .inner = inner, .max = max_size, .err = {.offset = UINT64_MAX}};
  u->archive = archive_read_new();
  if (!u->archive) err_set(err, TK_ELIMIT, "out of memory");
  else if ((member ? start_member : start_stream)(u, err))
    return in_layer((struct in_source){unpack_read, unpack_close, u, 0}, inner, mem, err);
  unpack_close(u);
  return NULL;
}

struct in *in_unpack(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  size_t n, kind;
  const uint8_t *p = in_ahead(inner, 6, &n, err);
  if (!p) {
    in_close(inner);
    return NULL;
  }
  kind = kind_of(p, n);
  if (kind == N_KINDS) return inner;
  if (KINDS[kind].remark) in_add_note(inner, false, 0, "%s", KINDS[kind].remark);
  return layer_over(inner, false, max_size, mem, err);
}

/* ---- archives ---- */

enum { TAR_HEADER = 512, TAR_SUM = 148, TAR_SUM_SIZE = 8 };

/* A tar has no mark that all of its kinds share, but its header's bytes add up to a number in the header. */
static bool is_tar(const uint8_t *p, size_t n) {
  uint32_t stated = 0, sum = 0;
  size_t i = TAR_SUM;
  if (n < TAR_HEADER || p[0] == 0) return false;
  while (i < TAR_SUM + TAR_SUM_SIZE && p[i] == ' ') i++;
  if (i == TAR_SUM + TAR_SUM_SIZE || p[i] < '0' || p[i] > '7') return false;
  for (; i < TAR_SUM + TAR_SUM_SIZE && p[i] >= '0' && p[i] <= '7'; i++) stated = stated * 8 + (p[i] - '0');
  for (i = 0; i < TAR_HEADER; i++) sum += i - TAR_SUM < TAR_SUM_SIZE ? ' ' : p[i];
  return sum == stated;
}

enum arc_magic arc_magic(const uint8_t *p, size_t n) {
  if (n >= 4 && p[0] == 'P' && p[1] == 'K' && ((p[2] == 3 && p[3] == 4) || (p[2] == 5 && p[3] == 6) || (p[2] == 7 && p[3] == 8)))
    return MAGIC_ZIP;
  if (n >= 6 && memcmp(p, "7z\xbc\xaf\x27\x1c", 6) == 0) return MAGIC_7Z;
  return is_tar(p, n) ? MAGIC_TAR : MAGIC_NONE;
}

struct in *in_member(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(inner, TAR_HEADER, &n, err);
  enum arc_magic magic = p ? arc_magic(p, n) : MAGIC_NONE;
  if (p && magic == MAGIC_NONE) return inner;
  if (p && magic != MAGIC_7Z) return layer_over(inner, true, max_size, mem, err);
  if (p) err_set(err, TK_EFORMAT, "a 7z archive cannot be read through a pipe or inside of another archive: save it to a file");
  in_close(inner);
  return NULL;
}
