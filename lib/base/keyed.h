/* keyed.h - numbers by a key of theirs: for what is too large to be moved by each comparison, or has a key that is computed. */
#ifndef BASE_KEYED_H
#define BASE_KEYED_H

#include <stdbool.h>
#include <stdint.h>

struct keyed {
  int64_t key;
  uint32_t index;
};

/* Sorts by key, stable; the result is `v` or `spare`, each of which has room for n. */
struct keyed *keyed_sort(struct keyed *v, struct keyed *spare, uint32_t n);

#endif
