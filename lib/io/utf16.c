/* utf16.c - converts UTF-16 to UTF-8, block by block. Unpaired surrogates become U+FFFD. */
#include "utf16.h"

#include <string.h>

#include "layer.h"
#include "in.h"

struct utf16 {
  struct mem *mem;
  struct in *inner;
  unsigned low; /* index of the low byte in a unit */
};

enum { REPLACEMENT = 0xfffd, ROOM = 4 };

static uint32_t unit(const struct utf16 *u, const uint8_t *p) { return (uint32_t)p[1 - u->low] << 8 | p[u->low]; }

static uint8_t *append_utf8(uint8_t *q, uint32_t c) {
  static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (unsigned i = n - 1; i > 0; i--, c >>= 6) q[i] = (uint8_t)(0x80 | (c & 0x3f));
  q[0] = (uint8_t)(first[n] | c);
  return q + n;
}

/* Returns the character at p, which has n bytes, and its length in *used. */
static uint32_t character(const struct utf16 *u, const uint8_t *p, size_t n, size_t *used) {
  uint32_t c = unit(u, p), d;
  *used = 2;
  if (c < 0xd800 || c > 0xdfff) return c;
  d = n >= 4 ? unit(u, p + 2) : 0;
  if (c > 0xdbff || d < 0xdc00 || d > 0xdfff) return REPLACEMENT;
  *used = 4;
  return 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00);
}

static ptrdiff_t utf16_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct utf16 *u = self;
  uint8_t *q = out;
  size_t avail, used;
  const uint8_t *p = in_ahead(u->inner, 4096, &avail, err), *end = p + avail;
  if (!p) return -1;
  while ((size_t)(end - p) >= (avail < 4096 ? 2 : 4) && n - (size_t)(q - out) >= ROOM) {
    q = append_utf8(q, character(u, p, (size_t)(end - p), &used));
    p += used;
  }
  in_consume(u->inner, avail - (size_t)(end - p));
  return q - out;
}

static void utf16_close(void *self) {
  struct utf16 *u = self;
  in_close(u->inner);
  mem_free(u->mem, u);
}

struct in *utf16_open(struct in *inner, struct mem *mem, struct tk_err *err) {
  size_t n;
  const uint8_t *p = in_ahead(inner, 4, &n, err);
  struct utf16 *u;
  if (p && (n < 2 || !((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff)))) return inner;
  if (p && n >= 4 && p[0] == 0xff && p[2] == 0 && p[3] == 0) return inner; /* UTF-32 */
  u = p ? mem_alloc(mem, sizeof *u) : NULL;
  if (!u) {
    if (p) mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *u = (struct utf16){mem, inner, p[0] == 0xff ? 0 : 1};
  in_consume(inner, 2);
  in_add_note(inner, false, 0, "UTF-16 text: converted");
  return in_layer((struct in_source){.read = utf16_read, .close = utf16_close, .self = u}, inner, mem, err);
}
