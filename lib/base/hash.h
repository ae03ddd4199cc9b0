/* hash.h - hash functions for keys of tables, and for values that are compared by their hash.
 *
 * Keys come from untrusted files. Tables therefore use hashes with a secret drawn anew in each process, so that nobody can
 * prepare names or ids that collide. With a fixed function, 20,000 colliding names took a second, and 40,000 four. Only
 * hash_bytes is the same in every process: it identifies values that are compared between files, and must not be used for
 * tables.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "int128.h"

/* Secret for tables. Drawn when the library is loaded, and constant afterwards; the second word is odd. */
extern uint64_t hash_secret[2];

/* Combines both halves of a 64x64-bit product: every input bit affects every output bit. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b) {
  u128 product = (u128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Return hashes for tables, which differ between processes. */
static inline uint64_t hash_number(uint64_t a) { return hash_fold(a ^ hash_secret[0], hash_secret[1]); }
static inline uint64_t hash_pair(uint64_t a, uint64_t b) { return hash_number(hash_number(a) ^ b); }
uint64_t hash_text(const void *p, size_t n);

/* Returns a hash of n bytes that is the same in all processes. */
uint64_t hash_bytes(const void *p, size_t n);
/* Combines two hashes; the order matters. Never returns 0. The result is the same in all processes. */
uint64_t hash_mix(uint64_t a, uint64_t b);

#endif
