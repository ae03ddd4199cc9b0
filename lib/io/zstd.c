/* zstd.c - compresses output with zstd.
 *
 * Writes one frame with fixed settings, so that equal contents result in equal files. Uses libzstd directly, because
 * libarchive's filter ends the process when memory runs out. */
#include "zstd.h"

#include <zstd.h>

enum { CHUNK = 1 << 17 };

struct zstd_out {
  struct mem *mem;
  ZSTD_CCtx *context;
  zstd_take *take;
  void *arg;
  uint8_t chunk[CHUNK];
};

/* Maps levels 1..9 to levels of zstd, whose default is 3. */
static int level_of(int level) {
  static const int levels[] = {3, 1, 2, 3, 5, 7, 9, 12, 15, 19};
  return levels[level < 0 ? 0 : level > 9 ? 9 : level];
}

struct zstd_out *zstd_open(int level, zstd_take *take, void *arg, struct mem *mem, struct tk_err *err) {
  struct zstd_out *z = mem_alloc(mem, sizeof *z);
  if (!z) {
    mem_check(mem, err);
    return NULL;
  }
  z->mem = mem;
  z->context = ZSTD_createCCtx();
  z->take = take;
  z->arg = arg;
  if (z->context && !ZSTD_isError(ZSTD_CCtx_setParameter(z->context, ZSTD_c_compressionLevel, level_of(level)))) return z;
  zstd_close(z);
  err_set(err, TK_ELIMIT, "out of memory");
  return NULL;
}

/* Passes on compressed data until all of `in` is consumed, or at the end until no output is left. */
static bool push(struct zstd_out *z, ZSTD_inBuffer *in, ZSTD_EndDirective how, struct tk_err *err) {
  size_t left;
  do {
    ZSTD_outBuffer out = {z->chunk, sizeof z->chunk, 0};
    left = ZSTD_compressStream2(z->context, &out, in, how);
    if (ZSTD_isError(left)) return err_set(err, TK_EWRITE, "zstd: %s", ZSTD_getErrorName(left));
    if (out.pos) z->take(z->arg, z->chunk, out.pos);
  } while (how == ZSTD_e_end ? left > 0 : in->pos < in->size);
  return true;
}

bool zstd_write(struct zstd_out *z, const void *p, size_t n, struct tk_err *err) {
  ZSTD_inBuffer in = {p, n, 0};
  return n == 0 || push(z, &in, ZSTD_e_continue, err);
}

bool zstd_end(struct zstd_out *z, struct tk_err *err) {
  ZSTD_inBuffer in = {NULL, 0, 0};
  return push(z, &in, ZSTD_e_end, err);
}

void zstd_close(struct zstd_out *z) {
  if (!z) return;
  ZSTD_freeCCtx(z->context);
  mem_free(z->mem, z);
}
