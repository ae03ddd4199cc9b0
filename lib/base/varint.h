/* varint.h - variable-length integers: seven bits per byte, lowest bits first, as in protobuf; packed args also use them. */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdint.h>

/* Writes v at p, in at most 10 bytes; returns the position after them. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = (uint8_t)(v | 0x80);
    v >>= 7;
  }
  *p++ = (uint8_t)v;
  return p;
}

/* Reads a number that varint_put wrote into *v; returns the position after it. */
static inline const uint8_t *varint_get(const uint8_t *p, uint64_t *v) {
  uint64_t out = *p & 0x7f;
  for (int shift = 7; *p++ & 0x80; shift += 7) out |= (uint64_t)(*p & 0x7f) << shift;
  *v = out;
  return p;
}

#endif
