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
  if (c == 0xed) hi = 0x9f; /* surrogates */
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

