#include "utf8.h"

#include <string.h>

unsigned utf8_sequence(const uint8_t *p, size_t n) {
  uint8_t c = p[0], lo = 0x80, hi = 0xbf;
  unsigned len;
  if (c < 0x80) return 1;
  if (c < 0xc2 || c > 0xf4) return 0;
  len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  if (len > n) return 0;
  if (c == 0xe0) lo = 0xa0;
  if (c == 0xed) hi = 0x9f; /* excludes surrogates */
  if (c == 0xf0) lo = 0x90;
  if (c == 0xf4) hi = 0x8f;
  if (p[1] < lo || p[1] > hi) return 0;
  for (unsigned i = 2; i < len; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  return len;
}

bool utf8_valid(const uint8_t *p, size_t n) {
  while (n) {
    uint64_t word;
    if (n >= 8) {
      memcpy(&word, p, 8);
      if (!(word & 0x8080808080808080u)) {
        p += 8;
        n -= 8;
        continue;
      }
    }
    unsigned len = utf8_sequence(p, n);
    if (!len) return false;
    p += len;
    n -= len;
  }
  return true;
}

bool utf8_is_replacement(const uint8_t *p, size_t n) {
  return n >= 3 && p[0] == 0xef && p[1] == 0xbf && p[2] == 0xbd;
}

bool utf8_is_replaced(const uint8_t *p, size_t n) {
  enum { FEWEST = 3 };
  size_t found = 0, other = 0;
  while (n && p[n - 1] >= 0x80 && !(n >= 3 && utf8_is_replacement(p + n - 3, 3))) n--;
  for (size_t i = 0; i < n; i++) {
    if (p[i] < 0xc0) continue;
    if (utf8_is_replacement(p + i, n - i)) found++;
    else other++;
  }
  return found >= FEWEST && found > other && utf8_valid(p, n);
}

uint32_t utf8_char(const uint8_t *p, unsigned n) {
  static const uint8_t bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t c = p[0] & bits[n];
  for (unsigned i = 1; i < n; i++) c = c << 6 | (p[i] & 0x3f);
  return c;
}

bool utf8_is_obeyed(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

unsigned utf8_put(uint8_t *to, uint32_t c) {
  static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  const unsigned n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (unsigned i = n - 1; i > 0; i--, c >>= 6) to[i] = (uint8_t)(0x80 | (c & 0x3f));
  to[0] = (uint8_t)(first[n] | c);
  return n;
}

static uint32_t unit_of_16(const uint8_t *p, bool big) { return (uint32_t)p[!big] << 8 | p[big]; }

uint32_t utf8_from_16(const uint8_t *p, size_t n, bool big, size_t *used) {
  enum { REPLACEMENT = 0xfffd };
  const uint32_t c = unit_of_16(p, big);
  *used = 2;
  if (c < 0xd800 || c > 0xdfff) return c;
  const uint32_t d = n >= 4 ? unit_of_16(p + 2, big) : 0;
  if (c > 0xdbff || d < 0xdc00 || d > 0xdfff) return REPLACEMENT;
  *used = 4;
  return 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00);
}
