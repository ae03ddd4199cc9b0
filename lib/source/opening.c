/* opening.c - see opening.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "opening.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "base/os.h"
#include "io/ahead.h"
#include "io/in_open.h"
#include "io/joined.h"

bool source_progress(struct source *s, struct tk_err *err) {
  if (!s->progress.tick || s->progress.tick(s->progress.arg, s->n_entries, 0)) return true;
  return err_set(err, TK_EINTERRUPTED, "interrupted");
}

void source_hold(struct source *s, uint32_t entry, struct in *in) {
  if (s->waiting < s->n_entries && s->waiting != entry) {
    in_close(s->entries[s->waiting].held);
    s->entries[s->waiting].held = NULL;
  }
  s->waiting = entry;
  s->entries[entry].held = in;
}

/* ---- copies ---- */

/* Copies an input whose bytes are already in a temporary file, because its tables had to be inspected. */
static bool write_spooled(struct source *s, struct in *in, int fd, struct tk_err *why, struct tk_err *err) {
  uint8_t block[1 << 16];
  ptrdiff_t n = 0;
  for (uint64_t at = 0; (n = in_read_at(in, block, sizeof block, at, why)) > 0; at += (uint64_t)n) {
    if (!os_write(fd, block, (size_t)n)) return err_sys(why, TK_EREAD, errno, "failed to copy to a temporary file");
    if (!source_progress(s, err)) return false;
  }
  return n == 0;
}

static bool write_all(struct source *s, struct in *in, int fd, struct tk_err *why, struct tk_err *err) {
  size_t n;
  const uint8_t *p;
  if (in_is_spooled(in)) return write_spooled(s, in, fd, why, err);
  while ((p = in_ahead(in, 1, &n, why)) != NULL && n > 0) {
    if (!os_write(fd, p, n)) return err_sys(why, TK_EREAD, errno, "failed to copy to a temporary file");
    in_consume(in, n);
    if (!source_progress(s, err)) return false;
  }
  return p != NULL;
}

int source_spool(struct source *s, struct in *in, char **path, struct tk_err *why, struct tk_err *err) {
  *path = NULL;
  int fd = os_temporary("", path);
  if (fd >= 0) unlink(*path);
  else err_sys(why, TK_EREAD, errno, "failed to create a temporary file");
  free(*path);
  *path = NULL;
  if (fd >= 0 && write_all(s, in, fd, why, err) && asprintf(path, "/dev/fd/%d", fd) >= 0) return fd;
  *path = NULL;
  if (fd >= 0) close(fd);
  return -1;
}

bool source_keep(struct source *s, uint32_t entry, struct tk_err *err) {
  struct source_entry *e = &s->entries[entry];
  struct tk_err why = {.offset = UINT64_MAX};
  char *path;
  if (e->remote && !e->held) source_hold(s, entry, address_open(s->fetch, e->path, &s->held, &why));
  if (!e->once || !e->held) return why.code != TK_EINTERRUPTED || err_set(err, TK_EINTERRUPTED, "interrupted");
  int fd = source_spool(s, e->held, &path, &why, err);
  if (fd < 0 && why.code == TK_OK) return false;
  in_close(e->held);
  e->held = NULL;
  if (fd < 0) { /* the error is reported when the entry is opened; an address is then fetched again */
    if (!e->remote) s->origins[e->origin].failed = why;
    return true;
  }
  e->once = e->remote = false;
  const char *kept = arena_text(&s->rundir.text, path, strlen(path));
  e->path = kept ? kept : "";
  e->spool = fd;
  free(path);
  return true;
}

static struct in *open_held(void *self, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct source_entry *e = self;
  struct in *in = e->held;
  e->held = NULL;
  if (in) return in_decode(in, max_size, mem, err);
  err_set(err, TK_EREAD, "was already read, and can be read only once");
  return NULL;
}

/* ---- opening ---- */

static struct arc *archive_of(struct source *s, const struct source_entry *e, struct tk_err *err) {
  if (!s->archive || strcmp(s->archive_path, e->path) != 0) {
    archive_close(s->archive);
    s->archive = archive_open(e->path, s->max_size, err);
    s->archive_path = e->path;
  }
  return s->archive && archive_goto(s->archive, e->member, err) ? s->archive : NULL;
}

static struct in *open_file(void *self, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  return in_open(self, max_size, mem, err);
}

static struct in *open_member(void *self, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  (void)max_size;
  return archive_content(self, mem, err);
}

static struct in *open_one(struct source *s, uint32_t entry, bool ahead, struct mem *mem, struct tk_err *err) {
  struct source_entry *e = &s->entries[entry];
  struct in_opener opener = {e->once ? open_held : open_file, e->once ? (void *)e : (void *)e->path};
  if (e->once && s->origins[e->origin].failed.code != TK_OK) {
    *err = s->origins[e->origin].failed;
    return NULL;
  }
  if (e->remote && !e->held) source_hold(s, entry, address_open(s->fetch, e->path, &s->held, err));
  if (e->remote && !e->held) return NULL;
  if (s->origins[e->origin].kind == ORIGIN_ARCHIVE) {
    opener = (struct in_opener){open_member, archive_of(s, e, err)};
    if (!opener.self) return NULL;
  }
  return ahead ? ahead_open(opener, s->max_size, mem, err) : opener.open(opener.self, s->max_size, mem, err);
}

/* State for reading the entries of one trace as a single file. */
struct pieces {
  struct source *s;
  struct mem *mem;
  uint32_t entry; /* the entry to read next */
};

static struct in *open_piece(void *self, uint32_t i, struct mem *mem, struct tk_err *err) {
  struct pieces *p = self;
  const uint32_t entry = p->entry;
  (void)i;
  p->entry = p->s->entries[entry].piece;
  struct in *in = open_one(p->s, entry, false, mem, err);
  if (!in) err_prefix(err, "%s", p->s->entries[entry].name);
  return in;
}

static void close_pieces(void *self) {
  struct pieces *p = self;
  mem_free(p->mem, p);
}

struct in *source_open(struct source *s, uint32_t entry, bool ahead, struct mem *mem, struct tk_err *err) {
  uint32_t n = 1;
  for (uint32_t i = entry; s->entries[i].piece != UINT32_MAX; i = s->entries[i].piece) n++;
  if (n == 1) return open_one(s, entry, ahead, mem, err);
  struct pieces *p = mem_alloc(mem, sizeof *p);
  if (!p) {
    mem_check(mem, err);
    return NULL;
  }
  *p = (struct pieces){s, mem, entry};
  return joined_open((struct in_pieces){.open = open_piece, .close = close_pieces, .self = p, .n = n}, mem, err);
}

struct in *source_open_raw(struct source *s, uint32_t entry, struct mem *mem, struct tk_err *err) {
  const struct source_entry *e = &s->entries[entry];
  struct arc *a;
  if (e->remote) return address_open(s->fetch, e->path, mem, err);
  if (e->once) {
    err_set(err, TK_EUSAGE, "cannot copy a pipe: it can be read only once");
    return NULL;
  }
  if (s->origins[e->origin].kind != ORIGIN_ARCHIVE) return in_open_raw(e->path, mem, err);
  a = archive_of(s, e, err);
  return a ? archive_content_raw(a, mem, err) : NULL;
}

bool source_look(struct source *s, uint32_t entry, struct tk_err *err) {
  struct mem mem = {.limit = s->mem.limit};
  struct tk_err why = {.offset = UINT64_MAX};
  struct source_entry *e = &s->entries[entry];
  struct in *in;
  if (e->look != LOOK_NONE) return true;
  if (e->remote && !e->held) source_hold(s, entry, address_open(s->fetch, e->path, &s->held, &why));
  if (e->held || e->remote) {
    if (e->held) e->held = in_decode(e->held, s->max_size, &s->held, &why);
    if (s->look) s->look(s->arg, s, entry, e->held, &why);
    return source_progress(s, err);
  }
  in = source_open(s, entry, false, &mem, &why);
  if (s->look) s->look(s->arg, s, entry, in, &why);
  in_close(in);
  return source_progress(s, err);
}

void source_free(struct source *s) {
  archive_close(s->archive);
  for (uint32_t i = 0; i < s->n_entries; i++) {
    in_close(s->entries[i].held);
    if (s->entries[i].spool >= 0) close(s->entries[i].spool);
  }
  for (uint32_t i = 0; i < s->n_origins; i++)
    if (s->origins[i].spool >= 0) close(s->origins[i].spool);
  mem_free(&s->mem, s->entries);
  mem_free(&s->mem, s->places);
  mem_free(&s->mem, s->origins);
  rundir_free(&s->rundir);
}
