/* out.c - the output buffer and its destinations.
 *
 *     buf            next                      block      end
 *      |-- written -->|------- free -------------|-- OUT_ROOM --|
 *
 * Bytes are processed in blocks of a fixed size, from `buf` to `block`, and the remainder moves to the front. Compressors
 * therefore get the same blocks however the writer divides its data, so equal contents result in equal files. Writers request
 * at most OUT_ROOM bytes, so a full buffer always contains a full block. Gzip blocks are compressed by several threads
 * (pieces.h), which own the buffer; other blocks are copied to a thread that compresses and writes them.
 *
 * A file gets its name last. On systems with unnamed files it has no name until it is complete, so that nothing remains if the
 * process is killed. From then until out_commit, and on other systems from the start, it is called
 * `.<name>.tmp-<host>-<pid>-<n>` in its target's directory; the next run for that target removes such files of dead processes.
 * A replacement is flushed to disk before it replaces a file. Devices, pipes and stdout are written to directly. After a
 * failure the buffer serves as a scratch area. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/ring.h"
#include "flate.h"
#include "pieces.h"
#include "zstd.h"

enum { BLOCK = 256 << 10, TRIES = 100, NAME_PART = 200, LOOK_AT = 400 };

struct out_impl {
  struct mem *mem;
  uint8_t *buf;          /* belongs to `pieces`, unless that is NULL */
  size_t block;
  struct pieces *pieces; /* NULL = output is not gzip */
  struct zstd_out *zstd; /* NULL = output is not zstd */
  struct buf memory;  /* destination if fd < 0 and `to` has no write function */
  struct tk_writer to; /* destination if it has a write function */
  int fd;
  char *path;         /* path of the target, with links resolved; NULL = none */
  char *temporary;    /* current name of the file; NULL = none */
  bool unnamed;       /* true as long as the file has no name */
  bool replaces;      /* true if a file with the final name exists */
  mode_t allowed, mode; /* allowed: permissions that all inputs have; mode: permissions of the file */
  uint64_t raw, file;
  uint32_t crc, file_crc;
  bool part, muted;
  bool force, same, was_there, finished, committed;
  struct tk_err err;     /* the caller's error, which belongs to the thread while it runs */
  struct ring ring;      /* blocks for the thread */
  struct mem thread_mem; /* memory account of the ring and the deflater */
  pthread_t thread;
  bool threaded, failed; /* failed: the caller reads it without waiting for the thread */
};

/* ---- blocks ------------------------------------------------------------------------------------------------------- */

static void put_bytes(struct out_impl *w, const void *p, size_t n) {
  if (w->err.code != TK_OK || n == 0) return;
  w->file += n;
  if (w->part) w->file_crc = flate_crc(w->file_crc, p, n);
  if (w->fd >= 0) {
    if (!os_write(w->fd, p, n)) err_sys(&w->err, TK_EWRITE, errno, "failed to write");
  } else if (w->to.write) {
    if (!w->to.write(w->to.arg, p, n)) err_set(&w->err, TK_EWRITE, "failed to write: the receiver rejected the data");
  } else if (!buf_append(&w->memory, p, n)) {
    mem_check(w->mem, &w->err);
    err_set(&w->err, TK_ELIMIT, "out of memory for the output");
  }
}

static void take_packed(void *self, const void *p, size_t n) { put_bytes(self, p, n); }

static void take_piece(void *self, const void *p, size_t n, size_t n_raw, uint32_t crc) {
  struct out_impl *w = self;
  w->crc = flate_crc_join(w->crc, crc, n_raw);
  put_bytes(w, p, n);
}

/* Compresses a block with zstd, or writes it as it is; `pieces` compresses with gzip. `last`: this is the last block. */
static void pack(struct out_impl *w, const uint8_t *p, size_t n, bool last) {
  if (w->err.code != TK_OK) return;
  if (w->zstd) {
    if (zstd_write(w->zstd, p, n, &w->err) && last) zstd_end(w->zstd, &w->err);
    return;
  }
  if (w->part) w->crc = flate_crc(w->crc, p, n);
  put_bytes(w, p, n);
}

/* Body of the writing thread: processes the blocks of the ring in order. */
static void *run_thread(void *self) {
  struct out_impl *w = self;
  const uint8_t *p;
  size_t n;
  while ((p = ring_next(&w->ring, &n)) != NULL) {
    pack(w, p, n, false);
    if (w->err.code != TK_OK) __atomic_store_n(&w->failed, true, __ATOMIC_RELAXED);
    ring_pop(&w->ring);
  }
  return NULL;
}

static bool failed(const struct out_impl *w) {
  return w->threaded ? __atomic_load_n(&w->failed, __ATOMIC_RELAXED) : w->err.code != TK_OK;
}

static void emit(struct out_impl *w, const uint8_t *p, size_t n) {
  if (w->muted || n == 0) return;
  w->raw += n;
  if (w->pieces) {
    if (!failed(w)) pieces_push(w->pieces, n, false, &w->err);
  } else if (!w->threaded) {
    pack(w, p, n, false);
  } else if (!failed(w)) {
    memcpy(ring_block(&w->ring), p, n);
    ring_push(&w->ring, n);
  }
}

/* Waits until all blocks are written. Afterwards, the caller's thread compresses. */
static void join_thread(struct out_impl *w) {
  if (!w->threaded) return;
  ring_end(&w->ring);
  pthread_join(w->thread, NULL);
  ring_free(&w->ring);
  w->threaded = false;
}

/* Moves the bytes after the first n to the front of the room for the next block. The first n bytes have been written. */
static void move_on(struct out *o, size_t n) {
  struct out_impl *w = o->impl;
  const uint8_t *rest = w->buf + n;
  const size_t left = (size_t)(o->next - rest);
  uint8_t *room = w->pieces && !failed(w) ? pieces_room(w->pieces, &w->err) : NULL;
  if (room) w->buf = room;
  else if (w->pieces) pieces_forget(w->pieces); /* after a failure, the buffer is only a scratch area */
  memmove(w->buf, rest, left);
  o->next = w->buf + left;
  o->end = w->buf + w->block + OUT_ROOM;
}

uint8_t *out_flush(struct out *o) {
  struct out_impl *w = o->impl;
  const size_t used = (size_t)(o->next - w->buf), block = used < w->block || failed(w) ? used : w->block;
  emit(w, w->buf, block);
  move_on(o, block);
  return o->next;
}

void out_write(struct out *o, const void *p, size_t n) {
  const uint8_t *c = p;
  while (n > 0) {
    size_t room = (size_t)(o->end - o->next), part = n < room ? n : room;
    memcpy(o->next, c, part);
    o->next += part;
    c += part;
    n -= part;
    if (n > 0) out_flush(o);
  }
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

static void flush_all(struct out *o) {
  struct out_impl *w = o->impl;
  while ((size_t)(o->next - w->buf) > w->block && !failed(w)) out_flush(o);
  out_flush(o);
}

void out_break(struct out *o) {
  struct out_impl *w = o->impl;
  if (w->muted || !(w->pieces || w->part)) return;
  flush_all(o);
  if (w->pieces && w->part && !failed(w)) pieces_drain(w->pieces, &w->err); /* the caller may request the CRCs of this part */
}

void out_mute(struct out *o, bool muted) {
  flush_all(o);
  o->impl->muted = muted;
}

void out_packed(struct out *o, const void *p, size_t n) {
  flush_all(o);
  put_bytes(o->impl, p, n);
}

void out_join(struct out *o, uint64_t raw, uint32_t crc) {
  struct out_impl *w = o->impl;
  if (w->pieces) w->crc = flate_crc_join(w->crc, crc, raw);
  w->raw += raw;
}

struct out_crcs out_crcs(const struct out *o) { return (struct out_crcs){o->impl->crc, o->impl->file_crc}; }

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static void put_header(struct out_impl *w, int level) {
  uint8_t h[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}; /* no time, name or system: equal contents result in equal files */
  h[8] = level == 9 ? 2 : level == 1 ? 4 : 0;
  put_bytes(w, h, sizeof h);
}

static bool out_start(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err) {
  struct out_impl *w = mem_alloc(mem, sizeof *w);
  *o = (struct out){0};
  if (!w) return mem_refuse(mem, err);
  *w = (struct out_impl){.mem = mem, .memory = {.mem = mem}, .fd = -1, .err = {.offset = UINT64_MAX}};
  o->impl = w;
  w->force = opt && opt->force;
  w->same = opt && opt->same;
  w->part = opt && opt->part;
  _Static_assert((int)PIECE_SLACK >= (int)OUT_ROOM, "what is reserved fits behind a piece");
  const bool gzip = opt && opt->gzip, zstd = opt && opt->zstd && !gzip;
  w->block = gzip ? PIECE : BLOCK;
  if (gzip) w->pieces = pieces_open(opt->level, opt->threads, take_piece, w, mem, err);
  if (gzip && !w->pieces) return false;
  if (zstd && !(w->zstd = zstd_open(opt->level, take_packed, w, mem, err))) return false;
  w->buf = gzip ? pieces_room(w->pieces, err) : mem_alloc(mem, BLOCK + OUT_ROOM);
  o->next = w->buf;
  o->end = w->buf ? w->buf + w->block + OUT_ROOM : NULL;
  return w->buf || mem_refuse(mem, err);
}

/* Starts the writing thread, unless the output is gzip, which has its own threads. If memory or threads are not available, the caller's
 * thread does the work. */
static void start_thread(struct out_impl *w, const struct out_options *opt) {
  if (!opt || opt->threads < 2 || w->pieces) return;
  _Static_assert((int)RING_BLOCK >= (int)BLOCK, "a block of the output fits a block of the ring");
  if (!ring_init(&w->ring, &w->thread_mem)) return;
  w->threaded = pthread_create(&w->thread, NULL, run_thread, w) == 0;
  if (!w->threaded) ring_free(&w->ring);
}

/* Returns the part after the last slash. */
static const char *out_name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Prints "<folder>/.<name>.tmp-<host>-", the prefix of this target's temporary files on this host. */
static int print_prefix(const struct out_impl *w, char *to, size_t size) {
  const char *name = out_name_of(w->path);
  char host[64];
  os_host_name(host, sizeof host);
  for (char *c = host; *c; c++)
    if (*c == '/' || *c == '-') *c = '_';
  return snprintf(to, size, "%.*s.%.*s.tmp-%s-", (int)(name - w->path), w->path, NAME_PART, name, host);
}

/* Removes temporary files of processes of this host that no longer run. Only searches the beginning of a large folder: when
 * every output searched all of it, a split into 8,000 files in one folder took 27 s. */
static void remove_dead(const struct out_impl *w, const char *prefix) {
  const char *name = out_name_of(prefix);
  const size_t n = strlen(name);
  char folder[PATH_MAX], path[PATH_MAX];
  struct dirent *entry;
  snprintf(folder, sizeof folder, "%.*s.", (int)(out_name_of(w->path) - w->path), w->path);
  DIR *d = opendir(folder);
  for (unsigned i = 0; d && i < LOOK_AT && (entry = readdir(d)) != NULL; i++) {
    char *end;
    if (strncmp(entry->d_name, name, n) != 0) continue;
    long pid = strtol(entry->d_name + n, &end, 10);
    if (*end != '-' || pid <= 0 || !os_process_has_ended(pid)) continue;
    if (snprintf(path, sizeof path, "%.*s%s", (int)(name - prefix), prefix, entry->d_name) < (int)sizeof path) unlink(path);
  }
  if (d) closedir(d);
}

/* Tries names until `make` succeeds; `make` fails with EEXIST if a name is taken. */
static bool take_name(struct out_impl *w, bool (*make)(struct out_impl *w, const char *name), const char *what) {
  size_t size = strlen(w->path) + 160;
  w->temporary = malloc(size);
  if (!w->temporary) return err_set(&w->err, TK_ELIMIT, "out of memory");
  int n = print_prefix(w, w->temporary, size);
  remove_dead(w, w->temporary);
  for (int i = 0; i < TRIES; i++) {
    snprintf(w->temporary + n, size - (size_t)n, "%ld-%d", os_process(), i);
    if (make(w, w->temporary)) return true;
    if (errno != EEXIST) break;
  }
  err_sys(&w->err, TK_EWRITE, errno, "%s", what);
  free(w->temporary);
  w->temporary = NULL;
  return false;
}

static bool create_named(struct out_impl *w, const char *name) {
  w->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, w->mode);
  return w->fd >= 0;
}

static const char *descriptor_path(const struct out_impl *w, char path[32]) {
  snprintf(path, 32, "/proc/self/fd/%d", w->fd);
  return path;
}

static bool link_unnamed(struct out_impl *w, const char *name) {
  char path[32];
  return linkat(AT_FDCWD, descriptor_path(w, path), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Opens an unnamed file. Returns false if the file system does not support this, or cannot name the file later. */
static bool open_unnamed(struct out_impl *w) {
#ifdef O_TMPFILE
  char folder[PATH_MAX], path[32];
  struct stat st;
  if (snprintf(folder, sizeof folder, "%.*s.", (int)(out_name_of(w->path) - w->path), w->path) >= (int)sizeof folder)
    return false;
  w->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, w->mode);
  if (w->fd >= 0 && stat(descriptor_path(w, path), &st) == 0) return w->unnamed = true;
  if (w->fd >= 0) close(w->fd);
  w->fd = -1;
#endif
  (void)w;
  return false;
}

/* Opens a temporary file. A file that replaces another one gets its mode, whatever the umask, but no output is readable by more
 * people than the inputs. */
static bool open_temporary(struct out_impl *w, struct tk_err *err) {
  if (!open_unnamed(w) && !take_name(w, create_named, "failed to create the file")) {
    if (err && err->code == TK_OK) *err = w->err;
    return false;
  }
  if (w->replaces) os_set_mode(w->fd, w->mode);
  return true;
}

static bool refuse_existing(struct tk_err *err) {
  err_for(err, TK_OPTION_FORCE, TK_EWRITE, "already exists");
  if (err && err->option == TK_OPTION_FORCE) err->sys = EEXIST;
  return false;
}

/* Opens the target. Follows a link, so that the target of the link is replaced rather than the link. */
static bool open_target(struct out_impl *w, const char *path, struct tk_err *err) {
  struct stat st;
  char *real;
  bool exists = lstat(path, &st) == 0;
  if (exists && S_ISLNK(st.st_mode)) {
    real = realpath(path, NULL);
    if (!real || stat(real, &st) != 0) {
      err_sys(err, TK_EWRITE, errno, "failed to resolve the symbolic link");
      free(real);
      return false;
    }
    w->path = real;
  } else {
    w->path = strdup(path);
  }
  if (!w->path) return err_set(err, TK_ELIMIT, "out of memory");
  if (exists && S_ISDIR(st.st_mode)) return err_sys(err, TK_EWRITE, EISDIR, "failed to write");
  if (exists && !S_ISREG(st.st_mode)) {
    w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return w->fd >= 0 || err_sys(err, TK_EWRITE, errno, "failed to open for writing");
  }
  if (!*out_name_of(w->path)) return err_sys(err, TK_EWRITE, *path ? EISDIR : ENOENT, "failed to write");
  if (exists && !w->force && !w->same) return refuse_existing(err);
  w->replaces = exists;
  w->mode = ((exists ? st.st_mode : 0666) & w->allowed) | S_IRUSR | S_IWUSR;
  return open_temporary(w, err);
}

static bool check_inputs(const char *path, const struct out_options *opt, struct tk_err *err) {
  for (const char *const *in = opt ? opt->inputs : NULL; in && *in; in++)
    if (os_same_file(path, STDOUT_FILENO, *in, STDIN_FILENO))
      return err_set(err, TK_EUSAGE, "is also an input; choose another name");
  return true;
}

/* Returns the permissions of an input ("-" = standard input); all permissions unless it is a regular file. */
static mode_t mode_of(const char *input) {
  struct stat st;
  const bool known = (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(input, &st)) == 0;
  return known && S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0777;
}

/* Returns the permissions that all inputs have, so that an output is never more readable than an input. */
static mode_t common_mode(const struct out_options *opt) {
  mode_t common = opt && opt->owner_only ? 0700 : 0777;
  for (const char *const *in = opt ? opt->inputs : NULL; in && *in; in++) common &= mode_of(*in);
  return common;
}

void out_restrict(struct out *o, const char *input) {
  struct out_impl *w = o->impl;
  struct stat st;
  const mode_t allowed = mode_of(input) | S_IRUSR | S_IWUSR;
  w->mode &= allowed;
  if ((w->temporary || w->unnamed) && w->fd >= 0 && fstat(w->fd, &st) == 0) os_set_mode(w->fd, st.st_mode & allowed);
}

static bool check_terminal(int fd, const struct out_options *opt, struct tk_err *err) {
  if (!opt || !(opt->gzip || opt->zstd || opt->binary) || !os_is_terminal(fd)) return true;
  return err_for(err, TK_OPTION_OUTPUT, TK_EUSAGE, "%s output cannot be written to a terminal",
                 opt->gzip || opt->zstd ? "compressed" : "binary");
}

bool out_is_final(const char *path) {
  struct stat st;
  return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

bool out_open(struct out *o, const char *path, const struct out_options *opt, struct mem *mem, struct tk_err *err) {
  if (strcmp(path, "/dev/stdout") == 0) path = "-";
  if (!out_start(o, opt, mem, err) || !check_inputs(path, opt, err)) goto fail;
  o->impl->allowed = common_mode(opt);
  if (strcmp(path, "-") == 0)
    o->impl->fd = STDOUT_FILENO;
  else if (!open_target(o->impl, path, err))
    goto fail;
  if (!check_terminal(o->impl->fd, opt, err)) goto fail;
  if (o->impl->pieces && !o->impl->part) put_header(o->impl, opt->level);
  start_thread(o->impl, opt);
  return true;
fail:
  out_close(o);
  return false;
}

bool out_memory(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err) {
  return out_custom(o, (struct tk_writer){0}, opt, mem, err);
}

bool out_custom(struct out *o, struct tk_writer to, const struct out_options *opt, struct mem *mem, struct tk_err *err) {
  if (!out_start(o, opt, mem, err)) {
    out_close(o);
    return false;
  }
  o->impl->to = to;
  if (o->impl->pieces) put_header(o->impl, opt->level);
  return true;
}

static bool discard(void *arg, const void *p, size_t n) {
  (void)arg, (void)p, (void)n;
  return true;
}

bool out_count(struct out *o, const struct out_options *opt, struct mem *mem, struct tk_err *err) {
  const bool ok = out_custom(o, (struct tk_writer){.write = discard}, opt, mem, err);
  if (ok) start_thread(o->impl, opt);
  return ok;
}

/* ---- finishing ---------------------------------------------------------------------------------------------------- */

static void put_trailer(struct out_impl *w) {
  uint32_t size = (uint32_t)w->raw;
  uint8_t t[8];
  for (int i = 0; i < 4; i++) {
    t[i] = (uint8_t)(w->crc >> 8 * i);
    t[4 + i] = (uint8_t)(size >> 8 * i);
  }
  put_bytes(w, t, sizeof t);
}

/* Flushes the file to disk if it replaces another one. Gives an unnamed file a temporary name in the target's directory,
 * because other outputs may have to be completed before the final name is set. */
static void settle(struct out_impl *w) {
  if (w->err.code == TK_OK && w->replaces && fsync(w->fd) != 0 && errno != EINVAL) err_sys(&w->err, TK_EWRITE, errno, "failed "
                                                                                                                      "to write");
  if (w->err.code == TK_OK && w->unnamed) take_name(w, link_unnamed, "failed to name the finished file");
}

/* Closes the file and checks for errors, because some file systems report a full disk only then. */
static void close_fd(struct out_impl *w) {
  if (w->fd > STDERR_FILENO && close(w->fd) != 0) err_sys(&w->err, TK_EWRITE, errno, "failed to write");
  w->fd = -1;
}

static bool same_bytes(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = x ? fopen(b, "rb") : NULL;
  char p[1 << 14], q[1 << 14];
  size_t n = 1, m = 1;
  bool same = x && y;
  while (same && n) {
    n = fread(p, 1, sizeof p, x);
    m = fread(q, 1, sizeof q, y);
    same = n == m && memcmp(p, q, n) == 0;
  }
  same = same && !ferror(x) && !ferror(y);
  if (x) fclose(x);
  if (y) fclose(y);
  return same;
}

static void give_name(struct out_impl *w) {
  struct stat st;
  if (w->err.code != TK_OK || !w->temporary) return;
  bool exists = !w->force && lstat(w->path, &st) == 0;
  if (exists && w->same && same_bytes(w->temporary, w->path)) {
    w->was_there = true; /* out_close removes the new file */
  } else if (exists && w->same) {
    err_for(&w->err, TK_OPTION_FORCE, TK_EWRITE, "already exists with different contents");
  } else if (exists) { /* another process created it meanwhile */
    refuse_existing(&w->err);
  } else if (rename(w->temporary, w->path) != 0) {
    err_sys(&w->err, TK_EWRITE, errno, "failed to rename the finished file");
  } else {
    free(w->temporary);
    w->temporary = NULL;
  }
}

static void free_buffers(struct out *o) {
  struct out_impl *w = o->impl;
  if (!w->pieces) mem_free(w->mem, w->buf);
  pieces_close(w->pieces);
  zstd_close(w->zstd);
  w->pieces = NULL;
  w->zstd = NULL;
  w->buf = o->next = o->end = NULL;
}

static bool tell_error(const struct out_impl *w, struct tk_err *err) {
  if (w->err.code == TK_OK) return true;
  if (err && err->code == TK_OK) *err = w->err;
  return false;
}

static void pack_last(struct out_impl *w, size_t n) {
  w->raw += n;
  if (!w->pieces) {
    pack(w, w->buf, n, !w->part);
  } else if (!failed(w)) {
    if (n || !w->part) pieces_push(w->pieces, n, !w->part, &w->err);
    pieces_drain(w->pieces, &w->err);
  }
}

bool out_finish(struct out *o, struct tk_err *err) {
  struct out_impl *w = o->impl;
  if (!w->finished) {
    while ((size_t)(o->next - w->buf) > w->block && !failed(w)) out_flush(o);
    join_thread(w);
    pack_last(w, (size_t)(o->next - w->buf));
    if (w->pieces && !w->part) put_trailer(w);
    settle(w);
    close_fd(w);
    free_buffers(o);
    w->finished = true;
  }
  return tell_error(w, err);
}

bool out_commit(struct out *o, struct tk_err *err) {
  struct out_impl *w = o->impl;
  out_finish(o, NULL);
  if (!w->committed) give_name(w);
  w->committed = true;
  return tell_error(w, err);
}

void out_close(struct out *o) {
  struct out_impl *w = o->impl;
  if (!w) return;
  join_thread(w);
  close_fd(w);
  if (w->temporary) unlink(w->temporary);
  free(w->temporary);
  free(w->path);
  buf_free(&w->memory);
  free_buffers(o);
  mem_free(w->mem, w);
  *o = (struct out){0};
}

/* ---- properties --------------------------------------------------------------------------------------------------- */

const uint8_t *out_memory_data(const struct out *o, size_t *n) {
  *n = o->impl->memory.len;
  return o->impl->memory.data;
}

const uint8_t *out_memory_take(struct out *o, size_t *n) {
  struct out_impl *w = o->impl;
  flush_all(o);
  if (w->pieces && !failed(w)) pieces_drain(w->pieces, &w->err);
  *n = w->memory.len;
  w->memory.len = 0;
  return w->memory.data;
}

uint64_t out_raw_bytes(const struct out *o) {
  return o->impl->raw + (o->impl->finished ? 0 : (uint64_t)(o->next - o->impl->buf));
}
bool out_was_there(const struct out *o) { return o->impl->was_there; }
uint64_t out_file_bytes(const struct out *o) { return o->impl->file; }
