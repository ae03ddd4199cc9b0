/* mangled.c - see mangled.h. */
#include "mangled.h"

#include <string.h>

#include "base/utf8.h"

#define MOST (UINT64_C(1) << 40) /* bytes; longer than any real file */

struct look {
  const uint8_t *end; /* end of the bytes that may be examined */
  bool replaced;      /* true if a number contains a replacement */
};

/* Looks for replacements in the tag of the field at p, and in its length or value. */
static void look_at_numbers(struct look *look, const uint8_t *p) {
  const bool is_fixed = (*p & 7) == PB_FIXED64 || (*p & 7) == PB_FIXED32;
  for (unsigned i = is_fixed ? 1 : 0; i < 2; i++, p++)
    for (; p < look->end && *p >= 0x80; p++)
      look->replaced |= utf8_is_replacement(p, (size_t)(look->end - p));
}

/* True if the field's number is unknown, or its wire type is the one expected for that number. */
static bool fits(const struct pb_shape *shape, const struct pb_field *f) {
  const char wire = f->number < strlen(shape->wires) ? shape->wires[f->number] : '-';
  return wire == '-' || wire == (char)('0' + f->wire);
}

static bool breaks(struct look *look, const struct pb_shape *shape, const uint8_t *p, uint64_t size);

/* True if the field has the wrong wire type, or if the message in it is damaged. */
static bool field_breaks(struct look *look, const struct pb_shape *shape, const struct pb_field *f) {
  if (!fits(shape, f)) return true;
  if (f->wire != PB_BYTES || !shape->inner || f->number >= strlen(shape->wires)) return false;
  const struct pb_shape *inner = shape->inner[f->number];
  return inner && breaks(look, inner, f->p, f->value);
}

/* Checks the last field, which begins at p and extends beyond the visible bytes. `left`: bytes that remain of its message. */
static bool last_field_breaks(struct look *look, const struct pb_shape *shape, const uint8_t *p, uint64_t left) {
  struct pb c = pb_over(p, (size_t)(look->end - p));
  struct pb_field f = {.wire = *p & 7};
  uint64_t tag;
  if (f.wire == PB_GROUP) return false;
  if (!pb_varint(&c, &tag) || f.wire != PB_BYTES || !pb_varint(&c, &f.value)) return look->end - p >= PB_HEADER;
  if (tag >> 3 == 0 || tag >> 32 || f.value > left - (uint64_t)(c.p - p)) return true;
  f.number = (uint32_t)(tag >> 3);
  f.p = c.p;
  return field_breaks(look, shape, &f);
}

/* True if the visible part of the message of `size` bytes at p contains an impossible field. */
static bool breaks(struct look *look, const struct pb_shape *shape, const uint8_t *p, uint64_t size) {
  const size_t seen = (size_t)(look->end - p);
  const bool is_whole = size <= seen;
  struct pb c = pb_over(p, is_whole ? (size_t)size : seen);
  struct pb_field f;
  const uint8_t *at = p;
  for (; at < c.end; at = c.p) {
    look_at_numbers(look, at);
    if (!pb_next(&c, &f)) break;
    if (field_breaks(look, shape, &f)) return true;
  }
  if (!c.fault) return false;
  return is_whole || last_field_breaks(look, shape, at, size - (uint64_t)(at - p));
}

enum mangled_damage mangled_damage(const struct pb_shape *file, const uint8_t *p, size_t n, bool last) {
  if (n > MANGLED_LOOK) {
    n = MANGLED_LOOK;
    last = false;
  }
  struct look look = {.end = p + n};
  if (!utf8_is_replaced(p, n) || !breaks(&look, file, p, last ? n : MOST)) return PB_SOUND;
  return look.replaced ? PB_MANGLED : PB_BROKEN;
}
