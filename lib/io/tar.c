/* tar.c - see tar.h. Uses the ustar format; libarchive adds a pax header if a member exceeds its limit of 8 GiB. */
#include "tar.h"

#include <stdlib.h>

#include "libarchive.h"

struct tar {
  struct libarchive lib;
  struct archive *la;
  struct out *out;
  uint64_t left;
};

static la_ssize_t write_packed(struct archive *la, void *self, const void *p, size_t n) {
  struct tar *t = self;
  (void)la;
  out_write(t->out, p, n);
  return (la_ssize_t)n;
}

static bool archive_fault(struct tar *t, struct tk_err *err) {
  const char *why = t->lib.archive_error_string(t->la);
  return err_set(err, TK_EWRITE, "tar: %s", why ? why : "cannot be written");
}

struct tar *tar_open(struct out *out, struct tk_err *err) {
  struct tar *t = calloc(1, sizeof *t);
  const bool found = t && libarchive_find(&t->lib, err);
  if (found) t->la = t->lib.archive_write_new();
  if (!t || !t->la) {
    if (!t || found) err_set(err, TK_ELIMIT, "out of memory");
    free(t);
    return NULL;
  }
  t->out = out;
  t->lib.archive_write_set_format_pax_restricted(t->la);
  if (t->lib.archive_write_open(t->la, t, NULL, write_packed, NULL) == ARCHIVE_OK) return t;
  archive_fault(t, err);
  tar_close(t);
  return NULL;
}

bool tar_member(struct tar *t, const char *name, uint64_t size, struct tk_err *err) {
  struct archive_entry *e = t->lib.archive_entry_new();
  if (!e) return err_set(err, TK_ELIMIT, "out of memory");
  t->lib.archive_entry_set_pathname(e, name);
  t->lib.archive_entry_set_filetype(e, AE_IFREG);
  t->lib.archive_entry_set_perm(e, 0644);
  t->lib.archive_entry_set_size(e, (la_int64_t)size);
  t->lib.archive_entry_set_mtime(e, 0, 0);
  t->lib.archive_entry_set_uid(e, 0);
  t->lib.archive_entry_set_gid(e, 0);
  bool ok = t->lib.archive_write_header(t->la, e) == ARCHIVE_OK || archive_fault(t, err);
  t->lib.archive_entry_free(e);
  t->left = size;
  return ok;
}

bool tar_write(struct tar *t, const void *p, size_t n, struct tk_err *err) {
  if (n > t->left) return err_set(err, TK_EUSAGE, "tar: member is longer than the size in its header");
  t->left -= n;
  return t->lib.archive_write_data(t->la, p, n) == (la_ssize_t)n || archive_fault(t, err);
}

uint64_t tar_left(const struct tar *t) { return t->left; }

bool tar_end(struct tar *t, struct tk_err *err) { return t->lib.archive_write_close(t->la) == ARCHIVE_OK || archive_fault(t, err); }

void tar_close(struct tar *t) {
  if (!t) return;
  t->lib.archive_write_free(t->la);
  free(t);
}
