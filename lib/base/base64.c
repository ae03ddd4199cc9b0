#include "base64.h"

bool base64_append(struct buf *b, const uint8_t *p, size_t n) {
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint8_t *q = n < SIZE_MAX / 2 ? buf_reserve(b, n / 3 * 4 + 4) : NULL;
  if (!q) return false;
  for (size_t i = 0; i < n; i += 3) {
    size_t left = n - i;
    uint32_t v = (uint32_t)p[i] << 16;
    if (left > 1) v |= (uint32_t)p[i + 1] << 8;
    if (left > 2) v |= p[i + 2];
    *q++ = (uint8_t)DIGITS[v >> 18];
    *q++ = (uint8_t)DIGITS[v >> 12 & 63];
    *q++ = left > 1 ? (uint8_t)DIGITS[v >> 6 & 63] : '=';
    *q++ = left > 2 ? (uint8_t)DIGITS[v & 63] : '=';
  }
  b->len = (size_t)(q - b->data);
  return true;
}
