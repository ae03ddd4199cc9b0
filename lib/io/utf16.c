/* utf16.c - converts UTF-16 to UTF-8, block by block. Unpaired surrogates become U+FFFD. */
#include "utf16.h"

#include <string.h>

#include "base/utf8.h"
#include "layer.h"
#include "in.h"

struct utf16 {
  struct mem *mem;
  struct in *inner;
  bool big; /* true if the high byte of each unit comes first */
};

enum { ROOM = 4 };

static ptrdiff_t utf16_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct utf16 *u = self;
  uint8_t *q = out;
  size_t avail, used;
  const uint8_t *p = in_ahead(u->inner, 4096, &avail, err), *end = p + avail;
  if (!p) return -1;
  while ((size_t)(end - p) >= (avail < 4096 ? 2 : 4) && n - (size_t)(q - out) >= ROOM) {
    q += utf8_put(q, utf8_from_16(p, (size_t)(end - p), u->big, &used));
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
  if (p && n >= 4 && p[0] == 0xff && p[2] == 0 && p[3] == 0) return inner; /* this is UTF-32 */
  u = p ? mem_alloc(mem, sizeof *u) : NULL;
  if (!u) {
    if (p) mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *u = (struct utf16){mem, inner, p[0] == 0xfe};
  in_consume(inner, 2);
  in_add_note(inner, false, 0, "UTF-16 text: converted");
  return in_layer((struct in_source){.read = utf16_read, .close = utf16_close, .self = u}, inner, mem, err);
}
