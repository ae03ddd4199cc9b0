#include "base64.h"

#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool base64_append(struct buf *b, const uint8_t *p, size_t n) {
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

/* Fills in the values of the digits; 64 for bytes that are not digits. */
static void digit_values(uint8_t values[256]) {
  memset(values, 64, 256);
  for (uint8_t i = 0; i < 64; i++) values[(unsigned char)DIGITS[i]] = i;
}

/* True if the text consists of groups of four digits. The last group may be padded with '=', and its unused bits must be
 * zero. */
static bool is_base64(const uint8_t *p, size_t n, const uint8_t values[256], size_t *padding) {
  *padding = 0;
  if (n % 4 != 0) return false;
  if (n && p[n - 1] == '=') *padding = p[n - 2] == '=' ? 2 : 1;
  for (size_t i = 0; i < n - *padding; i++)
    if (values[p[i]] == 64) return false;
  return *padding == 0 || (values[p[n - 1 - *padding]] & (*padding == 1 ? 3 : 15)) == 0;
}

size_t base64_decode(uint8_t *p, size_t n) {
  uint8_t values[256], *q = p;
  size_t padding;
  digit_values(values);
  if (!is_base64(p, n, values, &padding)) return SIZE_MAX;
  for (size_t i = 0; i < n; i += 4) {
    uint32_t v = 0;
    for (size_t k = 0; k < 4; k++) v = v << 6 | (values[p[i + k]] & 63);
    *q++ = (uint8_t)(v >> 16);
    *q++ = (uint8_t)(v >> 8);
    *q++ = (uint8_t)v;
  }
  return (size_t)(q - p) - padding;
}
