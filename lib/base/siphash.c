/* siphash.c - see siphash.h. */
#include "siphash.h"

struct state {
  uint64_t a, b, c, d;
};

static uint64_t rotated(uint64_t v, int bits) { return v << bits | v >> (64 - bits); }

static void mix(struct state *s) {
  s->a += s->b, s->b = rotated(s->b, 13) ^ s->a, s->a = rotated(s->a, 32);
  s->c += s->d, s->d = rotated(s->d, 16) ^ s->c;
  s->a += s->d, s->d = rotated(s->d, 21) ^ s->a;
  s->c += s->b, s->b = rotated(s->b, 17) ^ s->c, s->c = rotated(s->c, 32);
}

static void take_word(struct state *s, uint64_t word) {
  s->d ^= word;
  mix(s);
  mix(s);
  s->a ^= word;
}

static uint64_t little_endian(const uint8_t *p, size_t n) {
  uint64_t v = 0;
  while (n-- > 0) v = v << 8 | p[n];
  return v;
}

uint64_t siphash(struct siphash_key key, const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  struct state s = {key.k[0] ^ 0x736f6d6570736575, key.k[1] ^ 0x646f72616e646f6d, key.k[0] ^ 0x6c7967656e657261,
                    key.k[1] ^ 0x7465646279746573};
  uint64_t last = (uint64_t)n << 56;
  for (; n >= 8; n -= 8, p += 8) take_word(&s, little_endian(p, 8));
  take_word(&s, last | little_endian(p, n));
  s.c ^= 0xff;
  for (int i = 0; i < 4; i++) mix(&s);
  return s.a ^ s.b ^ s.c ^ s.d;
}

struct siphash_key siphash_key_of(const void *secret, size_t n) {
  return (struct siphash_key){{siphash((struct siphash_key){{0, 0}}, secret, n), siphash((struct siphash_key){{0, 1}}, secret, n)}};
}
