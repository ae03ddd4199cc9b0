/* archive.c - see archive.h. libarchive reads a plain archive from its file, because zip and 7z have their directories at the
 * end. An archive inside gzip, zstd, xz or bzip2 is decompressed by our own layers, which handle damage. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layer.h"
#include "in_open.h"
#include "in.h"
#include "libarchive.h"
#include "packing.h"
#include "unpack.h"

enum { HEAD = 512, END_RECORD = 22, TAIL = END_RECORD + (64 << 10), BLOCK = 64 << 10, RATIO = 1000, WHOLE = 1024, NAME = 64 };
static const uint64_t SMALL = 1 << 30; /* output up to this size is allowed whatever its compression ratio */

struct arc {
  struct libarchive lib;
  struct archive *la;
  struct mem mem;     /* memory account of `packed` */
  struct in *packed;  /* decompressed stream of a compressed archive; NULL = libarchive reads fd */
  int fd;
  size_t held;        /* bytes of packed's window in use by libarchive */
  struct tk_err err;  /* error of packed */
  char *path;
  uint64_t max_size;
  struct arc_member member;
  char unnamed[NAME];
  uint32_t next;      /* index of the next regular file */
  int64_t at_start;   /* position in the archive at which the current member begins */
  uint64_t made;      /* bytes produced from the current member */
  bool open;          /* true while the content of a member is open */
  const char *remark;
  char damage[256];
};

/* ---- detection ---- */

static uint32_t le32(const uint8_t *p) { return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24; }

/* True if the file ends in a zip end record and the directory is at the position that the record states. */
static bool has_zip_directory(int fd, uint64_t size) {
  static const uint8_t mark[] = {'P', 'K', 5, 6}, zip64[] = {0xff, 0xff, 0xff, 0xff};
  uint8_t *tail = malloc(TAIL), entry[4];
  uint64_t from = size > TAIL ? size - TAIL : 0;
  ssize_t n = tail ? pread(fd, tail, TAIL, (off_t)from) : -1;
  bool found = false;
  for (uint8_t *p = tail; n > 0 && !found && (p = memmem(p, (size_t)(tail + n - p), mark, sizeof mark)) != NULL; p++) {
    const ssize_t i = p - tail;
    if (i > n - END_RECORD || i + END_RECORD + (p[20] | p[21] << 8) != n) continue;
    uint64_t directory = le32(p + 12), at = from + (uint64_t)i;
    found = directory == 0 || memcmp(p + 16, zip64, 4) == 0 ||
            (directory <= at && pread(fd, entry, 4, (off_t)(at - directory)) == 4 && memcmp(entry, "PK\1\2", 4) == 0);
  }
  free(tail);
  return found;
}

enum kind { NO_ARCHIVE, SEEKABLE, BEHIND, PACKED };

static enum kind kind_of_packed(const char *path) {
  struct mem mem = {0};
  struct in *in = in_open_packed(path, 0, &mem, NULL);
  size_t n = 0;
  const uint8_t *p = in ? in_ahead(in, HEAD, &n, NULL) : NULL;
  enum kind kind = p && packing_archive_kind(p, n) ? PACKED : NO_ARCHIVE;
  in_close(in);
  return kind;
}

static enum kind kind_of_archive(const char *path, bool *whole) {
  uint8_t head[HEAD];
  struct stat st;
  int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
  ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
  enum packing_archive_kind magic = n > 0 ? packing_archive_kind(head, (size_t)n) : ARCHIVE_NONE;
  enum kind kind = magic ? SEEKABLE : NO_ARCHIVE;
  *whole = true;
  if (magic == ARCHIVE_ZIP) *whole = has_zip_directory(fd, (uint64_t)st.st_size);
  else if (n > 0 && !magic && has_zip_directory(fd, (uint64_t)st.st_size)) kind = BEHIND;
  if (fd >= 0) close(fd);
  if (kind == NO_ARCHIVE && n > 0 && packing_of_bytes((const uint8_t *)head, (size_t)n)) kind = kind_of_packed(path);
  return kind;
}

bool archive_is(const char *path) {
  bool whole;
  return kind_of_archive(path, &whole) != NO_ARCHIVE;
}

/* ---- opening ---- */

static la_ssize_t pull(struct archive *la, void *self, const void **p) {
  struct arc *a = self;
  size_t n;
  (void)la;
  in_consume(a->packed, a->held);
  a->held = 0;
  *p = in_ahead(a->packed, 1, &n, &a->err);
  if (!*p) return -1;
  a->held = n;
  return (la_ssize_t)n;
}

static bool archive_fault(struct arc *a, struct tk_err *err) {
  const char *why = a->lib.archive_error_string(a->la);
  if (a->err.code != TK_OK) {
    if (err && err->code == TK_OK) *err = a->err;
    return false;
  }
  return err_set(err, TK_ECORRUPT, "archive: %s", why ? why : "cannot be read");
}

static bool start_reading(struct arc *a, enum kind kind, struct tk_err *err) {
  uint64_t whole = a->max_size > UINT64_MAX / WHOLE ? 0 : a->max_size * WHOLE;
  a->err = (struct tk_err){.offset = UINT64_MAX};
  a->held = 0;
  a->next = 0;
  a->la = a->lib.archive_read_new();
  if (!a->la) return err_set(err, TK_ELIMIT, "out of memory");
  a->lib.archive_read_support_format_tar(a->la);
  a->lib.archive_read_support_format_zip(a->la);
  a->lib.archive_read_support_format_7zip(a->la);
  if (kind == PACKED) {
    a->packed = in_open_packed(a->path, whole, &a->mem, err);
    return a->packed && (a->lib.archive_read_open(a->la, a, NULL, pull, NULL) == ARCHIVE_OK || archive_fault(a, err));
  }
  a->fd = open(a->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (a->fd < 0) return err_sys(err, TK_EOPEN, errno, "cannot open");
  return a->lib.archive_read_open_fd(a->la, a->fd, BLOCK) == ARCHIVE_OK || archive_fault(a, err);
}

static void stop_reading(struct arc *a) {
  if (a->la) a->lib.archive_read_free(a->la);
  in_close(a->packed);
  if (a->fd >= 0) close(a->fd);
  a->la = NULL;
  a->packed = NULL;
  a->fd = -1;
}

struct arc *archive_open(const char *path, uint64_t max_size, struct tk_err *err) {
  struct arc *a = calloc(1, sizeof *a);
  bool whole;
  enum kind kind = kind_of_archive(path, &whole);
  if (a) *a = (struct arc){.fd = -1, .path = strdup(path), .max_size = max_size};
  if (!a || !a->path) err_set(err, TK_ELIMIT, "out of memory");
  else if (kind == NO_ARCHIVE) err_set(err, TK_EFORMAT, "not an archive");
  else if (!whole) snprintf(a->damage, sizeof a->damage, "archive: missing or damaged table of contents; reading members in "
                                                         "the order found");
  if (a && kind == BEHIND) a->remark = "archive: skipped other bytes before its start (a self-extracting archive?)";
  if (a && a->path && kind != NO_ARCHIVE && libarchive_find(&a->lib, err) && start_reading(a, kind, err)) return a;
  archive_close(a);
  return NULL;
}

void archive_close(struct arc *a) {
  if (!a) return;
  stop_reading(a);
  free(a->path);
  free(a);
}

/* ---- members ---- */

/* Returns the member's name, if possible in UTF-8 whatever the locale; "member-N" if it has no name. */
static const char *archive_name_of(struct arc *a, struct archive_entry *e) {
  const char *name = a->lib.archive_entry_pathname_utf8(e);
  if (!name) name = a->lib.archive_entry_pathname(e);
  while (name && name[0] == '.' && name[1] == '/') name += 2;
  if (name && *name) return name;
  snprintf(a->unnamed, sizeof a->unnamed, "member-%u", a->next + 1);
  return a->unnamed;
}

/* Returns the time of the last change, in ns since the epoch; 0 if 64 bits cannot hold it. */
static int64_t time_of(const struct arc *a, struct archive_entry *e) {
  int64_t ns;
  return __builtin_mul_overflow((int64_t)a->lib.archive_entry_mtime(e), 1000000000, &ns) ? 0 : ns;
}

static bool take_member(struct arc *a, struct archive_entry *e) {
  if (a->lib.archive_entry_filetype(e) != AE_IFREG || a->lib.archive_entry_hardlink(e)) return false;
  a->member = (struct arc_member){.name = archive_name_of(a, e), .size = UINT64_MAX};
  if (packing_is_junk(a->member.name)) return false;
  if (a->lib.archive_entry_size_is_set(e)) a->member.size = (uint64_t)a->lib.archive_entry_size(e);
  if (a->lib.archive_entry_mtime_is_set(e)) a->member.time_ns = time_of(a, e);
  a->member.index = a->next++;
  a->at_start = a->lib.archive_filter_bytes(a->la, -1);
  a->made = 0;
  return true;
}

int archive_next(struct arc *a, struct arc_member *m, struct tk_err *err) {
  struct archive_entry *e;
  int status;
  while ((status = a->lib.archive_read_next_header(a->la, &e)) == ARCHIVE_OK || status == ARCHIVE_WARN || status == ARCHIVE_RETRY) {
    if (status == ARCHIVE_RETRY || !take_member(a, e)) continue;
    *m = a->member;
    return 1;
  }
  if (status == ARCHIVE_EOF) return 0;
  if (a->next == 0 || a->err.code == TK_ELIMIT) return archive_fault(a, err) - 1;
  const char *why = a->err.code ? a->err.msg : a->lib.archive_error_string(a->la);
  snprintf(a->damage, sizeof a->damage, "archive: damaged after member %u: %.160s", a->next, why ? why : "cannot be read");
  return 0;
}

bool archive_goto(struct arc *a, uint32_t index, struct tk_err *err) {
  struct arc_member m;
  if (a->next == index + 1 && a->made == 0) return true;
  if (a->next > index) {
    enum kind kind = a->packed ? PACKED : SEEKABLE;
    stop_reading(a);
    if (!start_reading(a, kind, err)) return false;
  }
  while (a->next <= index) {
    int got = archive_next(a, &m, err);
    if (got < 0) return false;
    if (got == 0) return err_set(err, TK_ECORRUPT, "archive: member %u no longer exists", index + 1);
  }
  return true;
}

const char *archive_remark(const struct arc *a) { return a->remark; }
const char *archive_damage(const struct arc *a) { return *a->damage ? a->damage : NULL; }

/* ---- content ---- */

static bool within_ratio(struct arc *a, struct tk_err *err) {
  uint64_t in = (uint64_t)(a->lib.archive_filter_bytes(a->la, -1) - a->at_start);
  if (a->max_size && a->made > a->max_size)
    return err_for(err, TK_OPTION_MAX_SIZE, TK_ELIMIT, "archive: the member exceeds the maximum decompressed size");
  if (!a->max_size && a->made > SMALL && a->made / RATIO > in)
    return err_for(err, TK_OPTION_MAX_SIZE, TK_ELIMIT, "archive: the member decompresses to more than %d times its size", RATIO);
  return true;
}

struct content {
  struct arc *arc;
  struct mem *mem;
  struct in *in; /* the input that reads this content, to which notes are added */
};

static ptrdiff_t content_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct content *c = self;
  struct arc *a = c->arc;
  la_ssize_t got = a->lib.archive_read_data(a->la, p, n);
  if (got >= 0) {
    a->made += (uint64_t)got;
    return within_ratio(a, err) ? (ptrdiff_t)got : -1;
  }
  if (a->made == 0 || a->err.code == TK_ELIMIT) {
    archive_fault(a, err);
    return -1;
  }
  if (c->in)
    in_add_note(c->in, true, UINT64_MAX, "archive: the member is damaged or truncated (%.80s); the %llu bytes before that were read",
                a->lib.archive_error_string(a->la), (unsigned long long)a->made);
  if (c->in) in_set_damaged(c->in);
  c->in = NULL; /* add the note only once */
  return 0;
}

static void content_close(void *self) {
  struct content *c = self;
  c->arc->open = false;
  mem_free(c->mem, c);
}

struct in *archive_content_raw(struct arc *a, struct mem *mem, struct tk_err *err) {
  struct content *c;
  if (a->open || a->made > 0) {
    err_set(err, TK_EUSAGE, "archive: only one member can be open at a time");
    return NULL;
  }
  c = mem_alloc(mem, sizeof *c);
  if (!c) {
    mem_check(mem, err);
    return NULL;
  }
  *c = (struct content){.arc = a, .mem = mem};
  a->open = true;
  uint64_t total = a->member.size == UINT64_MAX ? 0 : a->member.size;
  struct in *in = in_custom((struct in_source){.read = content_read, .close = content_close, .self = c, .total = total}, mem, err);
  if (in) c->in = in;
  return in;
}

struct in *archive_content(struct arc *a, struct mem *mem, struct tk_err *err) {
  struct in *in = archive_content_raw(a, mem, err);
  return in ? in_decode(in, a->max_size, mem, err) : NULL;
}
