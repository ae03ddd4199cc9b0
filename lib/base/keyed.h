/* keyed.h - stable sorts of indices: by a 64-bit key, for elements that are large or whose key is costly to compute, and by a
 * small number. */
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

/* Sorts the indices 0 .. n - 1 by group[], whose values are below `groups`, stably: group g becomes list[first[g]] ..
 * list[first[g + 1] - 1]. `first` must have room for groups + 2 elements, `list` for n. */
void keyed_lists(const uint32_t *group, uint32_t n, uint32_t groups, uint32_t *first, uint32_t *list);

#endif
