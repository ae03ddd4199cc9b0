/* hash.c - see hash.h. */
#include "hash.h"

#include <string.h>

#include "os.h"

uint64_t hash_secret[2];

/* Runs when the library is loaded; the secret does not change afterwards. */
static void draw_secret(void) __attribute__((constructor));

static void draw_secret(void) {
  os_random(hash_secret, sizeof hash_secret);
  hash_secret[1] |= 1;
}

/* Hashes n bytes, without reading beyond them. The length is added at the end: before the multiplication it would cancel differences of
 * short texts, such as "1" and "113". */
static inline uint64_t hash_with(const uint8_t *p, size_t n, uint64_t k0, uint64_t k1) {
  const uint64_t size = n;
  uint64_t h = k0, a, b = 0;
  uint32_t a32, b32;
  for (; n > 16; n -= 16, p += 16) {
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    h = hash_fold(a ^ h, b ^ k1);
  }
  if (n >= 8) {
    memcpy(&a, p, 8);
    memcpy(&b, p + n - 8, 8);
  } else if (n >= 4) {
    memcpy(&a32, p, 4);
    memcpy(&b32, p + n - 4, 4);
    a = a32;
    b = b32;
  } else {
    a = n ? (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1] : 0;
    b = 0;
  }
  return hash_fold(hash_fold(a ^ h, b ^ k1) ^ size, k0 | 1);
}

uint64_t hash_text(const void *p, size_t n) { return hash_with(p, n, hash_secret[0], hash_secret[1]); }

/* The constants are odd and have no structure (digits of pi and e). */
uint64_t hash_bytes(const void *p, size_t n) { return hash_with(p, n, 0x243f6a8885a308d3u, 0xb7e151628aed2a6bu); }

uint64_t hash_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
  x ^= x >> 32;
  return x ? x : 1;
}
