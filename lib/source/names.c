/* names.c - see names.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"
#include "base/glob.h"
#include "bundle.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/num.h"
#include "base/os.h"
#include "base/path.h"
#include "io/layer.h"
#include "io/in_open.h"
#include "io/packing.h"
#include "opening.h"

enum { HEAD = 512, DEPTH = 40, MOST_ENTRIES = 1 << 20, LISTS = 8, LINE = 64 << 10 };

/* ---- entries ---- */

static const char *keep_text(struct source *s, const char *text, size_t n) {
  const char *kept = arena_text(&s->rundir.text, text, n);
  return kept ? kept : "";
}

const char *source_text(struct source *s, const char *text) { return keep_text(s, text, strlen(text)); }

static const char *joined(struct source *s, const char *a, const char *between, const char *b) {
  size_t na = strlen(a), nm = strlen(between), nb = strlen(b);
  char *p = arena_bytes(&s->rundir.text, na + nm + nb + 1);
  if (!p) return "";
  memcpy(p, a, na);
  memcpy(p + na, between, nm);
  memcpy(p + na + nm, b, nb + 1);
  return p;
}

static struct source_origin *add_origin(struct source *s, enum origin_kind kind, const char *name) {
  struct source_origin *o;
  if (!mem_grow(&s->mem, (void **)&s->origins, &s->cap_origins, (uint64_t)s->n_origins + 1, sizeof *s->origins)) return NULL;
  o = &s->origins[s->n_origins++];
  *o = (struct source_origin){.kind = kind, .first = s->n_entries, .spool = -1, .failed = {.offset = UINT64_MAX},
                              .operand = s->n_operands};
  o->name = source_text(s, name);
  return o;
}

/* Adds an entry to the last origin. Copies `rel` and the strings of `e`. Returns false if memory runs out. */
static bool add_entry(struct source *s, struct source_entry e, const char *rel, int64_t time_ns) {
  if (!mem_grow(&s->mem, (void **)&s->entries, &s->cap_entries, (uint64_t)s->n_entries + 1, sizeof *s->entries)) return false;
  if (!mem_grow(&s->mem, (void **)&s->places, &s->cap_places, (uint64_t)s->n_entries + 1, sizeof *s->places)) return false;
  e.origin = s->n_origins - 1;
  e.rank = -1;
  e.pid = -1;
  e.piece = UINT32_MAX;
  e.spool = -1;
  s->entries[s->n_entries] = e;
  s->places[s->n_entries++] = (struct rundir_file){.rel = rel, .time_ns = time_ns};
  s->origins[s->n_origins - 1].n++;
  return true;
}

static bool too_many(const struct source *s) {
  struct source_origin *o = &s->origins[s->n_origins - 1];
  if (o->n < MOST_ENTRIES) return false;
  err_set(&o->failed, TK_ELIMIT, "more than %d files", MOST_ENTRIES);
  return true;
}

#if defined(__APPLE__)
#define st_mtim st_mtimespec /* macOS calls the member st_mtimespec */
#endif
static int64_t time_of(const struct stat *st) {
  int64_t ns;
  return __builtin_mul_overflow((int64_t)st->st_mtim.tv_sec, 1000000000, &ns) ? 0 : num_add(ns, st->st_mtim.tv_nsec);
}

static bool find_runs(struct source *s, const char *root, bool one) {
  struct source_origin *o = &s->origins[s->n_origins - 1];
  return o->n == 0 || rundir_find(&s->rundir, s->places + o->first, o->n, root, one);
}

/* Returns the absolute path. Returns NULL if the path does not exist, or, with s->mem.failed set, if memory runs out. */
static char *real_path(struct source *s, const char *path) {
  char *real = realpath(path, NULL);
  if (!real && errno == ENOMEM) s->mem.failed = true;
  return real;
}

/* For a trace that the user named directly: takes its rank from the name of a file next to it, if there is exactly one such file. */
static void find_rank_beside(struct source *s, const char *path, struct rundir_file *f) {
  char pattern[4096], *real = real_path(s, path);
  glob_t found;
  const bool may_be = real && bundle_rank_files(real, pattern, sizeof pattern);
  free(real);
  if (!may_be || glob(pattern, GLOB_NOSORT, NULL, &found) != 0) return;
  const int64_t rank = found.gl_pathc == 1 ? bundle_rank_of(path_leaf(found.gl_pathv[0])) : -1;
  if (rank >= 0) f->rank = rank, f->rank_beside = true;
  globfree(&found);
}

/* Adds a file. A file in a run directory gets its run and host from the directory, even if the user named the file itself. */
static bool add_file(struct source *s, const char *path, const struct stat *st) {
  struct source_entry e = {.size = st && S_ISREG(st->st_mode) ? (uint64_t)st->st_size : UINT64_MAX};
  const char *slash;
  char *root;
  bool ok;
  if (!add_origin(s, ORIGIN_FILE, path)) return false;
  e.name = e.path = s->origins[s->n_origins - 1].name;
  slash = strrchr(e.name, '/');
  if (!add_entry(s, e, slash ? slash + 1 : e.name, st ? time_of(st) : 0)) return false;
  root = st ? real_path(s, path) : NULL;
  if (root) *strrchr(root, '/') = 0;
  ok = !s->mem.failed && find_runs(s, root ? root : "", true);
  if (ok && st) find_rank_beside(s, path, &s->places[s->n_entries - 1]);
  free(root);
  return ok;
}

/* ---- names without inputs ---- */

static bool add_failed(struct source *s, enum origin_kind kind, const char *name, const struct tk_err *why) {
  struct source_origin *o = add_origin(s, kind, name);
  if (o) o->failed = *why;
  return o != NULL;
}

/* ---- folders ---- */

/* Walks a folder recursively and lists nothing twice. Links are followed last, so a link to a sibling or to a parent folder does not
 * add files a second time. */
struct walk {
  struct source *s;
  struct map seen; /* folders and files that were visited, by device and inode */
  struct link {
    const char *path, *rel;
    unsigned depth;
  } *links;
  uint32_t n_links, cap_links;
};

/* Marks a file as visited; returns false if it was visited before. */
static bool is_new(struct walk *w, const struct stat *st) {
  const uint64_t key[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino};
  uint32_t *seen = map_put(&w->seen, hash_text(key, sizeof key), 0);
  return seen && ++*seen == 1;
}

static int names_by_name(const struct dirent **a, const struct dirent **b) {
  return rundir_compare((*a)->d_name, (*b)->d_name);
}
static int wanted(const struct dirent *d) { return !packing_is_junk(d->d_name) && strcmp(d->d_name, ".") && strcmp(d->d_name, ".."); }

static bool list_folder(struct walk *w, const char *path, const char *rel, unsigned depth, struct tk_err *err);

static bool keep_link(struct walk *w, const char *path, const char *rel, unsigned depth) {
  if (!mem_grow(&w->s->mem, (void **)&w->links, &w->cap_links, (uint64_t)w->n_links + 1, sizeof *w->links)) return false;
  w->links[w->n_links++] = (struct link){path, rel, depth};
  return true;
}

static bool add_path(struct walk *w, const char *path, const char *rel, const struct stat *st, struct tk_err *err) {
  if (!S_ISREG(st->st_mode) || too_many(w->s)) return true;
  const struct source_entry e = {.name = path, .path = path, .size = (uint64_t)st->st_size};
  return add_entry(w->s, e, rel, time_of(st)) && source_progress(w->s, err);
}

static bool visit(struct walk *w, const char *folder, const char *rel, const char *name, unsigned depth, struct tk_err *err) {
  struct source *s = w->s;
  struct stat st;
  const char *path =
      strcmp(folder, ".") == 0 ? source_text(s, name) : joined(s, folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  rel = *rel ? joined(s, rel, "/", name) : source_text(s, name);
  if (lstat(path, &st) != 0) return true; /* deleted since it was listed */
  if (S_ISLNK(st.st_mode)) return keep_link(w, path, rel, depth);
  if (S_ISDIR(st.st_mode)) return depth >= DEPTH || list_folder(w, path, rel, depth + 1, err);
  is_new(w, &st);
  return add_path(w, path, rel, &st, err);
}

static bool follow(struct walk *w, struct link link, struct tk_err *err) {
  struct stat st;
  if (stat(link.path, &st) != 0) return true; /* the link leads nowhere */
  if (S_ISDIR(st.st_mode)) return link.depth >= DEPTH || list_folder(w, link.path, link.rel, link.depth + 1, err);
  return !is_new(w, &st) || add_path(w, link.path, link.rel, &st, err);
}

/* Lists a folder. If it cannot be read, the reason becomes the error of the origin. */
static bool list_folder(struct walk *w, const char *path, const char *rel, unsigned depth, struct tk_err *err) {
  struct source *s = w->s;
  struct dirent **names = NULL;
  struct stat st;
  bool ok = true, known = stat(path, &st) == 0;
  if (known && !is_new(w, &st)) return true;
  int n = known ? scandir(path, &names, wanted, names_by_name) : -1;
  if (n < 0) return err_sys(&s->origins[s->n_origins - 1].failed, TK_EOPEN, errno, "%s", path) || true;
  for (int i = 0; i < n; i++) {
    ok = ok && visit(w, path, rel, names[i]->d_name, depth, err);
    free(names[i]);
  }
  free(names);
  return ok;
}

static bool walk(struct source *s, const char *root, struct tk_err *err) {
  struct walk w = {.s = s};
  map_init(&w.seen, &s->mem);
  bool ok = list_folder(&w, root, "", 0, err);
  for (uint32_t i = 0; ok && i < w.n_links; i++) ok = follow(&w, w.links[i], err);
  map_free(&w.seen);
  mem_free(&s->mem, w.links);
  return ok;
}

static bool add_folder(struct source *s, const char *path, struct tk_err *err) {
  struct source_origin *o = add_origin(s, ORIGIN_FOLDER, path);
  char *root;
  bool ok;
  if (!o || !walk(s, path, err)) return false;
  o = &s->origins[s->n_origins - 1];
  if (o->n == 0) err_set(&o->failed, TK_EFORMAT, "contains no file");
  root = real_path(s, path);
  ok = !s->mem.failed && find_runs(s, root ? root : path, false);
  for (uint32_t i = s->n_entries - s->origins[s->n_origins - 1].n; ok && i < s->n_entries; i++)
    if (s->places[i].bundle && !s->places[i].rank_beside) find_rank_beside(s, s->entries[i].path, &s->places[i]);
  free(root);
  return ok;
}

/* ---- archives ---- */

/* True if the pattern selects the member: it is the member's name, the name of a folder above it, or a pattern that matches. */
static bool selected(const char *pattern, const char *name) {
  size_t n = strlen(pattern);
  if (n == 0 || strcmp(pattern, name) == 0 || glob_matches(pattern, name)) return true;
  return strncmp(pattern, name, n) == 0 && (pattern[n - 1] == '/' || name[n] == '/');
}

static void look_at_member(struct source *s, struct arc *a) {
  struct mem mem = {.limit = s->mem.limit};
  struct tk_err err = {.offset = UINT64_MAX};
  struct in *in = archive_content(a, &mem, &err);
  if (s->look) s->look(s->arg, s, s->n_entries - 1, in, &err);
  in_close(in);
}

static bool add_members(struct source *s, struct arc *a, const char *pattern, struct tk_err *err) {
  const char *name = s->origins[s->n_origins - 1].name, *path = s->origins[s->n_origins - 1].path;
  struct arc_member m;
  int got = 0;
  while (!too_many(s) && (got = archive_next(a, &m, &s->origins[s->n_origins - 1].failed)) > 0) {
    struct source_entry e = {.path = path, .member = m.index, .size = m.size};
    const char *rel = source_text(s, m.name);
    if (!selected(pattern, rel)) continue;
    e.name = joined(s, name, ":", rel);
    if (!add_entry(s, e, rel, m.time_ns) || !source_progress(s, err)) return false;
    look_at_member(s, a);
  }
  struct source_origin *o = &s->origins[s->n_origins - 1];
  if (o->n == 0 && got == 0 && *pattern) err_set(&o->failed, TK_EFORMAT, "archive has no member '%s'", pattern);
  else if (o->n == 0 && got == 0) err_set(&o->failed, TK_EFORMAT, "archive is empty");
  if (archive_damage(a)) o->damage = source_text(s, archive_damage(a));
  o->remark = archive_remark(a);
  return true;
}

static bool add_archive(struct source *s, const char *name, const char *path, const char *pattern, struct tk_err *err) {
  struct source_origin *o = add_origin(s, ORIGIN_ARCHIVE, name);
  if (o) o->path = path ? path : o->name;
  path = o ? o->path : "";
  struct arc *a = o ? archive_open(path, s->max_size, &o->failed) : NULL;
  bool ok = o != NULL;
  if (a) ok = add_members(s, a, pattern, err) && find_runs(s, strcmp(name, "-") == 0 ? "" : name, true);
  archive_close(a);
  return ok;
}

/* Handles names such as "logs.zip:run/a.json": the archive is the longest prefix that is an archive. Returns true if there is
 * one; *ok is then the result of adding the members. */
static bool is_member(struct source *s, const char *name, bool *ok, struct tk_err *err) {
  char *path = strdup(name);
  bool found = false;
  for (char *colon = path ? strrchr(path, ':') : NULL; colon && !found; colon = strrchr(path, ':')) {
    *colon = 0;
    found = archive_is(path);
    if (found) *ok = add_archive(s, path, NULL, name + (colon - path) + 1, err);
  }
  free(path);
  return found;
}

/* ---- streams ---- */

/* Adds an archive from a stream. It is copied to a file first: its directory may be at the end, and members are read more than
 * once. */
static bool add_spooled(struct source *s, const char *name, struct in *in, const char *pattern, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  char *path;
  int fd = source_spool(s, in, &path, &why, err);
  if (fd < 0) return why.code == TK_OK ? false : add_failed(s, ORIGIN_FILE, name, &why);
  bool ok = add_archive(s, name, source_text(s, path), pattern, err);
  free(path);
  if (s->n_origins && ok) s->origins[s->n_origins - 1].spool = fd;
  else close(fd);
  return ok;
}

static bool add_stream(struct source *s, const char *name, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  struct in *in = in_open_packed(name, s->max_size, &s->held, &why);
  size_t n = 0;
  const uint8_t *p = in ? in_ahead(in, HEAD, &n, NULL) : NULL;
  bool ok;
  if (!in) return add_failed(s, ORIGIN_FILE, name, &why);
  if (p && packing_archive_kind(p, n) != ARCHIVE_NONE) {
    ok = add_spooled(s, name, in, "", err);
    in_close(in);
    return ok;
  }
  ok = add_file(s, name, NULL);
  if (!ok) {
    in_close(in);
    return false;
  }
  s->entries[s->n_entries - 1].held = in;
  s->entries[s->n_entries - 1].once = true;
  return true;
}

/* ---- lists and patterns ---- */

static bool add_name(struct source *s, const char *name, unsigned lists, struct tk_err *err);

static bool fail_with(struct source *s, const char *name, enum tk_code code, int sys, const char *text) {
  struct tk_err why = {.offset = UINT64_MAX};
  if (sys) err_sys(&why, code, sys, "%s", text);
  else err_set(&why, code, "%s", text);
  return add_failed(s, ORIGIN_FILE, name, &why);
}

static bool add_list(struct source *s, const char *path, unsigned lists, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  struct in *in = lists < LISTS ? in_open(path, s->max_size, &s->mem, &why) : NULL;
  size_t n = 0;
  const uint8_t *p;
  bool ok = true;
  if (lists >= LISTS) err_set(&why, TK_EUSAGE, "lists nested more than %d levels deep", LISTS);
  while (ok && in && (p = in_ahead(in, LINE, &n, &why)) != NULL && n > 0) {
    const uint8_t *end = memchr(p, '\n', n);
    size_t size = end ? (size_t)(end - p) : n, length = size;
    if (!end && n >= LINE) {
      err_set(&why, TK_EFORMAT, "not a list of names: it has a line of more than %d bytes", LINE);
      break;
    }
    while (length > 0 && strchr(" \t\r", p[length - 1])) length--;
    const char *line = keep_text(s, (const char *)p, length);
    in_consume(in, size + (end != NULL));
    if (*line && *line != '#') ok = add_name(s, line, lists + 1, err);
  }
  in_close(in);
  return ok && (why.code == TK_OK || add_failed(s, ORIGIN_FILE, path, &why));
}

static int by_path(const void *a, const void *b) { return rundir_compare(*(char *const *)a, *(char *const *)b); }

static bool add_pattern(struct source *s, const char *pattern, struct tk_err *err) {
  glob_t found;
  bool ok = true;
  if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
    return fail_with(s, pattern, TK_EOPEN, ENOENT, "no file matches this pattern");
  qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_path);
  for (size_t i = 0; ok && i < found.gl_pathc; i++) ok = add_name(s, found.gl_pathv[i], LISTS, err);
  globfree(&found);
  return ok;
}

/* ---- addresses ---- */

/* True if the caller's callback failed because of an interrupt; the call then fails with TK_EINTERRUPTED. */
static bool interrupted(const struct tk_err *why, struct tk_err *err) {
  if (why->code != TK_EINTERRUPTED) return false;
  if (err && err->code == TK_OK) *err = *why;
  return true;
}

/* Adds the file at an address; its stream is open already. Its folders may show its run and host. */
static bool add_remote_file(struct source *s, const char *address, struct in *in) {
  const char *name = keep_text(s, address, address_shown(address)), *slash = strrchr(name, '/');
  const struct source_entry e = {.name = name, .path = source_text(s, address), .size = UINT64_MAX, .once = true, .remote = true};
  const char *root = keep_text(s, name, slash ? (size_t)(slash - name) : 0);
  if (!add_origin(s, ORIGIN_FILE, name) || !add_entry(s, e, slash ? slash + 1 : name, 0)) {
    in_close(in);
    return false;
  }
  source_hold(s, s->n_entries - 1, in);
  return find_runs(s, root, true);
}

static bool add_remote(struct source *s, const char *address, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  const size_t whole = strlen(address), n_archive = address_archive(address);
  const char *fetched = keep_text(s, address, n_archive), *shown = keep_text(s, fetched, address_shown(fetched));
  struct in *in = in_peel(address_open(s->fetch, fetched, &s->held, &why), s->max_size, &s->held, &why);
  size_t n = 0;
  const uint8_t *p = in ? in_ahead(in, HEAD, &n, &why) : NULL;
  const bool is_archive = p && packing_archive_kind(p, n) != ARCHIVE_NONE;
  bool ok;
  if (p && !is_archive && n_archive == whole) return add_remote_file(s, address, in);
  if (p && !is_archive) err_set(&why, TK_EFORMAT, "is not an archive");
  if (is_archive) ok = add_spooled(s, shown, in, n_archive < whole ? address + n_archive + 1 : "", err);
  else ok = !interrupted(&why, err) && add_failed(s, ORIGIN_FILE, shown, &why);
  in_close(in);
  return ok;
}

/* A folder at an address, while it is listed. */
struct listing {
  struct source *s;
  const char *address;
};

/* Adds a file of the folder. The path comes from a server, so a path that leads out of the folder is skipped. */
static bool add_listed(void *to, const struct tk_remote_file *f) {
  struct listing *l = to;
  if (too_many(l->s)) return false;
  if (!address_is_below(f->path) || packing_is_junk(path_leaf(f->path))) return true;
  const char *name = joined(l->s, l->address, "", f->path);
  const struct source_entry e = {.name = name, .path = name, .size = f->size, .once = true, .remote = true};
  return add_entry(l->s, e, name + strlen(l->address), f->time_ns);
}

static bool add_remote_folder(struct source *s, const char *address, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  struct source_origin *o = add_origin(s, ORIGIN_FOLDER, address);
  struct listing to = {s, o ? o->name : ""};
  if (!o) return false;
  const bool ok = s->fetch->list(s->fetch->arg, to.address, add_listed, &to, &why);
  o = &s->origins[s->n_origins - 1];
  if (s->mem.failed || interrupted(&why, err)) return false;
  if (!ok && o->failed.code == TK_OK) o->failed = why;
  if (o->failed.code == TK_OK && o->n == 0) err_set(&o->failed, TK_EFORMAT, "contains no file");
  return find_runs(s, keep_text(s, address, strlen(address) - 1), false);
}

static bool add_address(struct source *s, const char *address, unsigned lists, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  char *path = address_path(s->fetch, address, &why);
  bool ok;
  if (path) {
    ok = add_name(s, path, lists, err);
    free(path);
    return ok;
  }
  if (why.code != TK_OK) return !interrupted(&why, err) && add_failed(s, ORIGIN_FILE, address, &why);
  return address[strlen(address) - 1] == '/' ? add_remote_folder(s, address, err) : add_remote(s, address, err);
}

/* ---- a name ---- */

/* True for a report of Nsight Systems, if the caller exports such files. */
static bool is_exported(const struct source *s, const char *name) {
  static const char ENDING[] = ".nsys-rep";
  const size_t n = strlen(name), end = sizeof ENDING - 1;
  if (n <= end || strcmp(name + n - end, ENDING) != 0) return false;
  for (const char *const *scheme = s->fetch ? s->fetch->schemes : NULL; scheme && *scheme; scheme++)
    if (strcmp(*scheme, ENDING + 1) == 0) return true;
  return false;
}

/* Adds a report under its own name; it is read from the database that the caller exported. */
static bool add_exported(struct source *s, const char *name, const struct stat *st, struct tk_err *err) {
  struct tk_err why = {.offset = UINT64_MAX};
  char *path = s->fetch->local(s->fetch->arg, name, &why);
  if (!path && why.code == TK_EINTERRUPTED) return err_set(err, TK_EINTERRUPTED, "interrupted");
  if (!path) return fail_with(s, name, why.code ? why.code : TK_EOPEN, 0, *why.msg ? why.msg : "cannot export");
  const bool ok = add_file(s, name, st);
  if (ok) s->entries[s->n_entries - 1].path = source_text(s, path);
  free(path);
  return ok;
}

static bool add_name(struct source *s, const char *name, unsigned lists, struct tk_err *err) {
  struct stat st;
  bool ok = true;
  if (strcmp(name, "-") == 0) return add_stream(s, name, err);
  if (stat(name, &st) != 0) {
    int sys = errno;
    if (*name == '@' && name[1]) return add_list(s, name + 1, lists, err);
    if (is_member(s, name, &ok, err)) return ok;
    if (address_is(name)) return add_address(s, name, lists, err);
    if (strpbrk(name, "*?[")) return add_pattern(s, name, err);
    return fail_with(s, name, TK_EOPEN, sys, "cannot open");
  }
  if (S_ISDIR(st.st_mode)) return add_folder(s, name, err);
  if (S_ISREG(st.st_mode) && archive_is(name)) return add_archive(s, name, NULL, "", err);
  if (S_ISREG(st.st_mode) && is_exported(s, name)) return add_exported(s, name, &st, err);
  return S_ISREG(st.st_mode) ? add_file(s, name, &st) : add_stream(s, name, err);
}

void source_init(struct source *s) {
  s->rundir.text.mem = &s->mem;
  s->waiting = UINT32_MAX;
}

bool source_add(struct source *s, const char *name, struct tk_err *err) {
  const bool ok = add_name(s, name, 0, err) && mem_check(&s->mem, err);
  s->n_operands++;
  return ok;
}
