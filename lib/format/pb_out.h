/* pb_out.h - appends protobuf fields to a buffer.
 *
 * Because the length precedes the bytes, a nested message is built in a separate buffer and then appended. For messages of some
 * tens of bytes, copying is cheaper than reserving room for the length and filling it in later. */
#ifndef FORMAT_PB_OUT_H
#define FORMAT_PB_OUT_H

#include <string.h>

#include "base/varint.h"
#include "pb.h"

static inline uint8_t *pb_key(uint8_t *p, uint32_t field, enum pb_wire wire) { return varint_put(p, (uint64_t)field << 3 | wire); }

static inline void pb_u64(struct buf *b, uint32_t field, uint64_t v) {
  uint8_t *p = buf_reserve(b, 16);
  if (p) b->len = (size_t)(varint_put(pb_key(p, field, PB_VARINT), v) - b->data);
}

/* Appends an int32 or int64; negative numbers take ten bytes. */
static inline void pb_i64(struct buf *b, uint32_t field, int64_t v) { pb_u64(b, field, (uint64_t)v); }

static inline void pb_fixed64(struct buf *b, uint32_t field, uint64_t v) {
  uint8_t *p = buf_reserve(b, 16);
  if (!p) return;
  p = pb_key(p, field, PB_FIXED64);
  for (int i = 0; i < 8; i++) *p++ = (uint8_t)(v >> 8 * i);
  b->len = (size_t)(p - b->data);
}

static inline void pb_fixed32(struct buf *b, uint32_t field, uint32_t v) {
  uint8_t *p = buf_reserve(b, 16);
  if (!p) return;
  p = pb_key(p, field, PB_FIXED32);
  for (int i = 0; i < 4; i++) *p++ = (uint8_t)(v >> 8 * i);
  b->len = (size_t)(p - b->data);
}

static inline void pb_double(struct buf *b, uint32_t field, double v) {
  uint64_t bits;
  memcpy(&bits, &v, 8);
  pb_fixed64(b, field, bits);
}

static inline void pb_bytes(struct buf *b, uint32_t field, const void *bytes, size_t n) {
  uint8_t *p = buf_reserve(b, n + 20);
  if (!p) return;
  p = varint_put(pb_key(p, field, PB_BYTES), n);
  if (n) memcpy(p, bytes, n);
  b->len = (size_t)(p + n - b->data);
}

static inline void pb_message(struct buf *b, uint32_t field, const struct buf *inner) { pb_bytes(b, field, inner->data, inner->len); }

/* Copies a field. Varints are written in their shortest form. */
static inline void pb_field(struct buf *b, const struct pb_field *f) {
  if (f->wire == PB_BYTES) pb_bytes(b, f->number, f->p, (size_t)f->value);
  else if (f->wire == PB_VARINT) pb_u64(b, f->number, f->value);
  else if (f->wire == PB_FIXED64) pb_fixed64(b, f->number, f->value);
  else pb_fixed32(b, f->number, (uint32_t)f->value);
}

#endif
