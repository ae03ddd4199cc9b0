/* int128.h - 128-bit integers, for products of two 64-bit integers and for picoseconds of any date.
 *
 * On 32-bit processors compilers lack __int128 but have C23's _BitInt: gcc from 14 on, clang from 16 on. */
#ifndef BASE_INT128_H
#define BASE_INT128_H

#include <stdint.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
#else
__extension__ typedef _BitInt(128) i128;
__extension__ typedef unsigned _BitInt(128) u128;
#endif

/* Converts to double; compiler libraries for 32-bit processors lack this conversion. */
static inline double i128_double(i128 v) {
  if (v < 0) return -i128_double(-v);
  return (double)(uint64_t)(v >> 64) * 18446744073709551616.0 + (double)(uint64_t)v;
}

#endif
