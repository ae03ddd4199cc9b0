/* siphash.h - SipHash-2-4, a keyed 64-bit hash (Aumasson and Bernstein, 2012), for names in redacted output. Without the key,
 * nobody can find the original text by hashing candidates. Tables use hash.h. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
  uint64_t k[2];
};

uint64_t siphash(struct siphash_key key, const void *p, size_t n);

/* Derives a key from a secret of any length. */
struct siphash_key siphash_key_of(const void *secret, size_t n);

#endif
