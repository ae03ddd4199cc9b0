/* siphash.h - SipHash-2-4, a keyed hash of 64 bits: who does not have the key cannot tell a text from its hash by trying texts.
 * (Aumasson and Bernstein, 2012.)  For names that leave the house; tables go by hash.h. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
  uint64_t k[2];
};

uint64_t siphash(struct siphash_key key, const void *p, size_t n);

/* A key made of a secret of any length. */
struct siphash_key siphash_key_of(const void *secret, size_t n);

#endif
