/* keyed.h - stable sort of indices by a 64-bit key, for elements that are large or whose key is costly to compute. */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include <stdbool.h>
#include <stdint.h>

struct keyed {
  int64_t key;
  uint32_t index;
};

/* Sorts by key, stably. The result is in `v` or `spare`, each with room for n. */
struct keyed *keyed_sort(struct keyed *v, struct keyed *spare, uint32_t n);

#endif
