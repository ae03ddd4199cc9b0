/* hash.h - numbers for keys of tables, and for what is compared as a whole.
 *
 * Keys come out of files that anybody wrote.  So tables go by hashes that are drawn anew in each process, of which nobody can know
 * which names or ids have one in common; with a fixed function 20,000 names of one hash took a second, and 40,000 four.  hash_bytes
 * alone is the same everywhere and always: it labels what is compared between files, and must not choose a place in a table. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "int128.h"

/* Drawn when the library is loaded, never changed after; the second one is odd. */
extern uint64_t hash_secret[2];

/* Folds both halves of a 64x64 product: every input bit reaches every output bit. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b) {
  u128 product = (u128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of this process. */
static inline uint64_t hash_number(uint64_t a) { return hash_fold(a ^ hash_secret[0], hash_secret[1]); }
static inline uint64_t hash_pair(uint64_t a, uint64_t b) { return hash_number(hash_number(a) ^ b); }
uint64_t hash_text(const void *p, size_t n);

/* The same everywhere and always. */
uint64_t hash_bytes(const void *p, size_t n);

#endif
