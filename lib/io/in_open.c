/* in_open.c - opens files as inputs and removes the layers in which they are packed (in.h). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "in_open.h"
#include "base/os.h"
#include "html.h"
#include "layer.h"
#include "unpack.h"
#include "utf16.h"
#include "gzip.h"

enum { PEELS = 3 };

struct file {
  struct mem *mem;
  uint64_t at;
  int fd;
  bool moved; /* true if `at` is no longer the position of the descriptor */
};

static ptrdiff_t file_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct file *f = self;
  ptrdiff_t got = f->moved ? os_read_at(f->fd, p, n, f->at) : os_read(f->fd, p, n);
  if (got < 0) {
    err_sys(err, TK_EREAD, errno, "failed to read at byte %llu", (unsigned long long)f->at);
    return -1;
  }
  f->at += (uint64_t)got;
  return got;
}

static ptrdiff_t file_read_at(void *self, uint8_t *p, size_t n, uint64_t at, struct tk_err *err) {
  const struct file *f = self;
  const ptrdiff_t got = os_read_at(f->fd, p, n, at);
  if (got < 0) err_sys(err, TK_EREAD, errno, "failed to read at byte %llu", (unsigned long long)at);
  return got;
}

static void file_move(void *self, uint64_t at) {
  struct file *f = self;
  f->at = at;
  f->moved = true;
}

static void file_close(void *self) {
  struct file *f = self;
  if (f->fd > STDIN_FILENO) close(f->fd);
  mem_free(f->mem, f);
}

static int open_fd(const char *path, uint64_t *total, struct tk_err *err) {
  struct stat st;
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0 || fstat(fd, &st) != 0) {
    err_sys(err, TK_EOPEN, errno, "cannot open");
  } else if (S_ISDIR(st.st_mode)) {
    err_set(err, TK_EOPEN, "cannot open: is a directory");
  } else {
    *total = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return fd;
  }
  if (fd > STDIN_FILENO) close(fd);
  return -1;
}

struct in *in_open_raw(const char *path, struct mem *mem, struct tk_err *err) {
  struct in_source source = {.read = file_read, .close = file_close};
  int fd = open_fd(path, &source.total, err);
  source.at_hand = source.total > 0 && fd > STDIN_FILENO; /* standard input cannot be opened a second time */
  if (source.at_hand) source.read_at = file_read_at, source.move = file_move;
  struct file *f;
  if (fd < 0) return NULL;
  f = mem_alloc(mem, sizeof *f);
  if (!f) {
    mem_check(mem, err);
    if (fd > STDIN_FILENO) close(fd);
    return NULL;
  }
  *f = (struct file){.mem = mem, .fd = fd};
  source.self = f;
  return in_custom(source, mem, err);
}

struct in *in_peel(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct in *outer;
  for (int i = 0; in && i < PEELS; i++) {
    outer = in;
    in = gzip_open(in, max_size, mem, err);
    if (in) in = unpack_open(in, max_size, mem, err);
    if (in == outer) break;
  }
  return in;
}

/* Finds the trace in an HTML page, and decompresses the trace if necessary. */
static struct in *page(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct in *outer = in;
  in = html_open(in, mem, err);
  return in && in != outer ? in_peel(in, max_size, mem, err) : in;
}

struct in *in_decode(struct in *in, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct in *outer = in_peel(in, max_size, mem, err);
  in = outer ? unpack_member(outer, max_size, mem, err) : NULL;
  if (in && in != outer) in = in_peel(in, max_size, mem, err);
  if (in) in = utf16_open(in, mem, err);
  return in ? page(in, max_size, mem, err) : NULL;
}

struct in *in_open(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  struct in *in = in_open_raw(path, mem, err);
  return in ? in_decode(in, max_size, mem, err) : NULL;
}

struct in *in_open_packed(const char *path, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  return in_peel(in_open_raw(path, mem, err), max_size, mem, err);
}

bool in_read_all(const char *path, struct buf *text, struct tk_err *err) {
  struct in *in = in_open(path, 0, text->mem, err);
  const uint8_t *p;
  size_t n;
  while (in && !text->mem->failed && (p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    buf_append(text, p, n);
    in_consume(in, n);
  }
  if (in) in_close(in);
  return err->code == TK_OK && mem_check(text->mem, err);
}
