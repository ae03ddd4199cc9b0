/* stream.c - loads traces that are not files: from memory, from a descriptor, or from a callback. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "graph/step_names.h"
#include "io/layer.h"
#include "io/in_open.h"
#include "load.h"

struct stream {
  struct mem *mem;
  struct tk_reader from;
};

static ptrdiff_t stream_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct stream *s = self;
  const ptrdiff_t got = s->from.read(s->from.arg, p, n);
  if (got < 0 || (size_t)got > n) {
    err_sys(err, TK_EREAD, errno, "failed to read");
    return -1;
  }
  return got;
}

static void stream_close(void *self) { mem_free(((struct stream *)self)->mem, self); }

static struct in *stream_open(struct tk_reader from, struct mem *mem, struct tk_err *err) {
  struct stream *s = mem_alloc(mem, sizeof *s);
  if (!s) {
    mem_check(mem, err);
    return NULL;
  }
  *s = (struct stream){mem, from};
  return in_custom((struct in_source){.read = stream_read, .close = stream_close, .self = s}, mem, err);
}

/* Loads from the callback `from`, or from `bytes` if there is no callback. Compressed data is decompressed. */
static struct tk_trace *load(struct tk_reader from, struct tk_bytes bytes, const char *name, const struct tk_load_options *opt,
                             struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  struct tk_load_options options = opt ? *opt : defaults;
  if (!load_take(&options, err)) return NULL;
  opt = &options;
  struct tk_trace *t = trace_new(os_memory_limit(opt->max_memory));
  if (!t) {
    err_set(err, TK_ELIMIT, "%s: out of memory", name);
    return NULL;
  }
  struct mem *mem = &t->store->mem;
  load_configure(t, opt);
  struct in *in = from.read ? stream_open(from, mem, err) : in_memory(bytes.p, bytes.n, mem, err);
  t->host = t->run = "";
  if (in) in = in_decode(in, opt->max_size, mem, err);
  return load_input(in, name, NULL, opt, t, err);
}

struct tk_trace *tk_load_memory(const void *bytes, size_t n, const char *name, const struct tk_load_options *opt, struct tk_err *err) {
  return load((struct tk_reader){0}, (struct tk_bytes){(void *)(uintptr_t)bytes, n}, name, opt, err);
}

struct tk_trace *tk_load_stream(struct tk_reader from, const char *name, const struct tk_load_options *opt, struct tk_err *err) {
  return load(from, (struct tk_bytes){0}, name, opt, err);
}

static ptrdiff_t read_fd(void *arg, void *p, size_t n) { return os_read(*(int *)arg, p, n); }

struct tk_trace *tk_load_fd(int fd, const char *name, const struct tk_load_options *opt, struct tk_err *err) {
  return tk_load_stream((struct tk_reader){read_fd, &fd}, name, opt, err);
}
