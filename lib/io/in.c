/* in.c - the window: a buffer that slides over a source.
 *
 *     buf                start            end                 cap      cap + IN_PAD
 *      |-- consumed ------|-- available ---|-- zeros, then stale ---|
 *
 * Bytes are read() into a block that fits into a core's cache. This was as fast as mmap in measurements, and the same code
 * serves files, pipes and decompressed streams. The rest of the window moves to the front only when little room is left after
 * it, and the buffer doubles only when more than half of it is in use, so moving costs less than reading. The buffer grows with
 * the data that has arrived rather than with the amount requested, so an invalid length cannot make it large. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "in.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "layer.h"

enum { WINDOW = 256 << 10, NOTE_TEXT = 160 };

/* Notes of a stack of inputs. The input of the outermost source owns them, and the layers above share them. */
struct notes {
  struct in_note note[IN_NOTES];
  char text[IN_NOTES][NOTE_TEXT];
  size_t n;
  bool damaged, joined;
};

struct in {
  struct in_source source;
  struct in *inner;    /* the input from which the source reads; NULL = none */
  struct notes *notes;
  struct mem *mem;
  uint8_t *buf;
  size_t cap;          /* capacity of the buffer, without the pad */
  size_t start, end;
  uint64_t offset;
  _Alignas(8) uint64_t got; /* bytes received from the source; aligned so that 32-bit processors read the number atomically */
  bool ended;
  int spool;           /* temporary file with the whole input; -1 = none */
  uint64_t spooled;    /* size of the temporary file */
  struct tk_err fault; /* the source's final error; TK_OK = none */
};

/* ---- construction ------------------------------------------------------------------------------------------------- */

static void *alloc_cleared(struct mem *mem, size_t n, struct tk_err *err) {
  void *p = mem_alloc(mem, n);
  if (!p) {
    mem_check(mem, err);
    return NULL;
  }
  return memset(p, 0, n);
}

/* Allocates the window. Clears only a pad's length of it, because clearing all of it would touch its pages even for an input of
 * a few bytes. */
static bool alloc_window(struct in *in, struct tk_err *err) {
  in->buf = mem_alloc(in->mem, WINDOW + IN_PAD);
  if (!in->buf) return mem_check(in->mem, err);
  memset(in->buf, 0, IN_PAD);
  in->cap = WINDOW;
  return true;
}

struct in *in_layer(struct in_source source, struct in *inner, struct mem *mem, struct tk_err *err) {
  struct in *in = alloc_cleared(mem, sizeof *in, err);
  if (!in) {
    if (source.close) source.close(source.self);
    return NULL;
  }
  *in = (struct in){.source = source, .inner = inner, .mem = mem, .spool = -1, .fault = {.offset = UINT64_MAX}};
  in->notes = inner ? inner->notes : alloc_cleared(mem, sizeof *in->notes, err);
  if (in->notes && alloc_window(in, err)) return in;
  in_close(in);
  return NULL;
}

struct in *in_custom(struct in_source source, struct mem *mem, struct tk_err *err) {
  return in_layer(source, NULL, mem, err);
}

void in_close(struct in *in) {
  if (!in) return;
  if (in->notes && !in->inner) mem_free(in->mem, in->notes);
  if (in->source.close) in->source.close(in->source.self);
  if (in->spool >= 0) close(in->spool);
  mem_free(in->mem, in->buf);
  mem_free(in->mem, in);
}

/* ---- the window --------------------------------------------------------------------------------------------------- */

static bool grow_window(struct in *in) {
  uint8_t *p = mem_resize(in->mem, in->buf, in->cap * 2 + IN_PAD);
  if (!p) return mem_refuse(in->mem, &in->fault);
  in->buf = p;
  in->cap *= 2;
  return true;
}

static bool make_room(struct in *in) {
  size_t left = in->end - in->start;
  if (in->cap - in->end >= in->cap / 4) return true;
  if (left > in->cap / 2 && !grow_window(in)) return false;
  memmove(in->buf, in->buf + in->start, left);
  in->start = 0;
  in->end = left;
  return true;
}

/* Reads once, up to n bytes; returns 0 at the end and on an error. */
static size_t read_source(struct in *in, uint8_t *p, size_t n) {
  if (in->ended || in->fault.code != TK_OK) return 0;
  const ptrdiff_t got = in->source.read(in->source.self, p, n, &in->fault);
  if (got < 0 && in->fault.code == TK_OK) err_set(&in->fault, TK_EREAD, "failed to read");
  if (got <= 0) {
    in->ended = got == 0;
    return 0;
  }
  __atomic_store_n(&in->got, in->got + (uint64_t)got, __ATOMIC_RELAXED); /* progress reads the number from another thread */
  return (size_t)got;
}

static bool fill(struct in *in) {
  if (in->ended || in->fault.code != TK_OK || !make_room(in)) return false;
  const size_t n = read_source(in, in->buf + in->end, in->cap - in->end);
  in->end += n;
  memset(in->buf + in->end, 0, IN_PAD);
  return n > 0;
}

const uint8_t *in_ahead(struct in *in, size_t min, size_t *avail, struct tk_err *err) {
  if (min == 0) min = 1; /* so that *avail == 0 only occurs at the end */
  while (in->end - in->start < min && fill(in)) {
  }
  *avail = in->end - in->start;
  if (*avail < min && in->fault.code != TK_OK) {
    *avail = 0;
    if (err && err->code == TK_OK) *err = in->fault;
    return NULL;
  }
  return in->buf + in->start;
}

void in_consume(struct in *in, size_t n) {
  if (n > in->end - in->start) n = in->end - in->start;
  in->start += n;
  in->offset += n;
}

size_t in_take(struct in *in, uint8_t *p, size_t n) {
  const size_t left = in->end - in->start, first = left < n ? left : n;
  size_t got, at = first;
  memcpy(p, in->buf + in->start, first);
  in_consume(in, first);
  while (at < n && (got = read_source(in, p + at, n - at)) > 0) at += got;
  in->offset += at - first;
  return at;
}

bool in_put_back(struct in *in, const uint8_t *p, size_t n, struct tk_err *err) {
  const size_t left = in->end - in->start;
  while (in->cap < n + left)
    if (!grow_window(in)) return mem_refuse(in->mem, err);
  if (in->start < n) {
    memmove(in->buf + n, in->buf + in->start, left + IN_PAD);
    in->start = n;
    in->end = n + left;
  }
  in->start -= n;
  in->offset -= n;
  if (n) memcpy(in->buf + in->start, p, n);
  return true;
}

/* ---- any offset --------------------------------------------------------------------------------------------------- */

static bool is_direct(const struct in *in) { return in->source.read_at && !in->inner; }

/* Copies the rest of the input to a file. The file has no name, so it disappears when the process ends. */
static bool copy_to(struct in *in, int fd, struct tk_err *err) {
  const uint8_t *p;
  size_t n;
  while ((p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    if (!os_write(fd, p, n)) return err_sys(err, TK_EWRITE, errno, "failed to write a temporary file");
    in->spooled += n;
    in_consume(in, n);
  }
  return p != NULL;
}

bool in_spool(struct in *in, struct tk_err *err) {
  if (is_direct(in) || in->spool >= 0) return true;
  char *path = NULL;
  in->spool = os_temporary("", &path);
  if (in->spool < 0) return err_sys(err, TK_EOPEN, errno, "cannot create a temporary file");
  unlink(path);
  free(path);
  return copy_to(in, in->spool, err);
}

bool in_is_spooled(const struct in *in) { return in->spool >= 0; }

ptrdiff_t in_read_at(struct in *in, uint8_t *p, size_t n, uint64_t at, struct tk_err *err) {
  if (in->spool < 0) {
    const ptrdiff_t got = in->source.read_at(in->source.self, p, n, at, err);
    if (got > 0) __atomic_store_n(&in->got, in->got + (uint64_t)got, __ATOMIC_RELAXED);
    return got;
  }
  const ptrdiff_t got = os_read_at(in->spool, p, n, at);
  if (got < 0) err_sys(err, TK_EREAD, errno, "failed to read a temporary file");
  return got;
}

bool in_is_shared(const struct in *in) { return is_direct(in) && in->source.move && in->source.total; }

ptrdiff_t in_read_shared(const struct in *in, uint8_t *p, size_t n, uint64_t at, struct tk_err *err) {
  return in->source.read_at(in->source.self, p, n, at, err);
}

void in_move(struct in *in, uint64_t at) {
  in->source.move(in->source.self, at);
  in->start = in->end = 0;
  in->offset = at;
  in->ended = false;
  __atomic_store_n(&in->got, at, __ATOMIC_RELAXED);
}

uint64_t in_size(const struct in *in) { return in->spool >= 0 ? in->spooled : in->source.total; }

/* ---- properties --------------------------------------------------------------------------------------------------- */

static const struct in *outermost(const struct in *in) {
  while (in->inner) in = in->inner;
  return in;
}

bool in_is_at_hand(const struct in *in) { return in->source.at_hand && !in->inner; }
uint64_t in_offset(const struct in *in) { return in->offset; }
uint64_t in_raw_offset(const struct in *in) { return outermost(in)->offset; }
uint64_t in_raw_read(const struct in *in) { return __atomic_load_n(&outermost(in)->got, __ATOMIC_RELAXED); }
uint64_t in_raw_total(const struct in *in) { return outermost(in)->source.total; }

void in_add_note(struct in *in, bool repair, uint64_t offset, const char *fmt, ...) {
  struct notes *s = in->notes;
  va_list ap;
  if (s->n == IN_NOTES) return;
  va_start(ap, fmt);
  vsnprintf(s->text[s->n], NOTE_TEXT, fmt, ap);
  va_end(ap);
  s->note[s->n] = (struct in_note){.text = s->text[s->n], .offset = offset, .repair = repair};
  s->n++;
}

void in_set_joined(struct in *in) { in->notes->joined = true; }
bool in_is_joined(const struct in *in) { return in->notes->joined; }

void in_set_damaged(struct in *in) { in->notes->damaged = true; }
bool in_is_damaged(const struct in *in) { return in->notes->damaged; }

size_t in_notes(const struct in *in, const struct in_note **notes) {
  *notes = in->notes->note;
  return in->notes->n;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

struct bytes {
  struct mem *mem;
  const uint8_t *all, *next;
  size_t size, left;
};

static ptrdiff_t bytes_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct bytes *b = self;
  (void)err;
  if (n > b->left) n = b->left;
  if (n > 0) memcpy(p, b->next, n);
  b->next += n;
  b->left -= n;
  return (ptrdiff_t)n;
}

static ptrdiff_t bytes_read_at(void *self, uint8_t *p, size_t n, uint64_t at, struct tk_err *err) {
  const struct bytes *b = self;
  (void)err;
  if (at >= b->size) return 0;
  if (n > b->size - at) n = (size_t)(b->size - at);
  memcpy(p, b->all + at, n);
  return (ptrdiff_t)n;
}

static void bytes_close(void *self) {
  struct bytes *b = self;
  mem_free(b->mem, b);
}

/* Reads memory through a window like any other source, because there is no pad after the caller's bytes. */
struct in *in_memory(const void *p, size_t n, struct mem *mem, struct tk_err *err) {
  static const uint8_t nothing[1];
  struct bytes *b = alloc_cleared(mem, sizeof *b, err);
  if (!b) return NULL;
  *b = (struct bytes){.mem = mem, .all = n ? p : nothing, .next = n ? p : nothing, .size = n, .left = n};
  const struct in_source source = {.read = bytes_read, .read_at = bytes_read_at, .close = bytes_close, .self = b, .total = n};
  return in_custom(source, mem, err);
}
