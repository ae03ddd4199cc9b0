/* num_pow10.h - powers of ten to 128 bits, for reading and printing doubles. */
#ifndef BASE_NUM_POW10_H
#define BASE_NUM_POW10_H

#include <stdint.h>

enum { NUM_POW10_MIN = -351, NUM_POW10_MAX = 350 };

/* hi and lo are the first 128 bits of a power, truncated; the top bit of hi is set. */
struct num_pow10 {
  uint64_t hi, lo;
};

/* 10^k is (hi x 2^64 + lo) x 2^(num_pow10_exp(k) - 127). This is exact if 0 <= k <= 55; otherwise 10^k is larger by less than
 * one unit of lo. */
struct num_pow10 num_pow10(int k);

/* Returns the exponent of the largest power of two that is at most 10^k. */
static inline int num_pow10_exp(int k) { return k * 1741647 >> 19; }

#endif
