#include "keyed.h"

#include <string.h>

/* Sorts runs of eight by insertion, then merges the runs. */
static struct keyed *merge_sort(struct keyed *v, struct keyed *spare, uint32_t n) {
  enum { RUN = 8 };
  for (uint32_t i = 1; i < n; i++) {
    const struct keyed moved = v[i];
    uint32_t at = i;
    for (; at % RUN > 0 && v[at - 1].key > moved.key; at--) v[at] = v[at - 1];
    v[at] = moved;
  }
  for (uint64_t width = RUN; width < n; width *= 2) {
    for (uint64_t lo = 0; lo < n; lo += 2 * width) {
      const uint64_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
      uint64_t i = lo, j = mid, to = lo;
      if (mid == hi || v[mid - 1].key <= v[mid].key) {
        memcpy(spare + lo, v + lo, (size_t)(hi - lo) * sizeof *v);
        continue;
      }
      while (i < mid || j < hi) spare[to++] = j >= hi || (i < mid && v[i].key <= v[j].key) ? v[i++] : v[j++];
    }
    struct keyed *swap = v;
    v = spare;
    spare = swap;
  }
  return v;
}

enum { DIGIT = 11 }; /* bits of a digit */

/* Sorts by the least significant digit first. */
static struct keyed *radix_sort(struct keyed *v, struct keyed *spare, uint32_t n, int64_t min, unsigned bits) {
  for (unsigned shift = 0; shift < bits; shift += DIGIT) {
    uint32_t at[1 << DIGIT] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++) at[(((uint64_t)v[i].key - (uint64_t)min) >> shift) % (1 << DIGIT)]++;
    for (uint32_t i = 0; i < 1 << DIGIT; i++) {
      const uint32_t here = at[i];
      at[i] = sum;
      sum += here;
    }
    for (uint32_t i = 0; i < n; i++) spare[at[(((uint64_t)v[i].key - (uint64_t)min) >> shift) % (1 << DIGIT)]++] = v[i];
    struct keyed *swap = v;
    v = spare;
    spare = swap;
  }
  return v;
}

struct keyed *keyed_sort(struct keyed *v, struct keyed *spare, uint32_t n) {
  enum { RADIX_FROM = 1500 };
  int64_t min = INT64_MAX, max = INT64_MIN;
  bool sorted = true;
  for (uint32_t i = 0; i < n; i++) {
    if (v[i].key < max) sorted = false;
    if (v[i].key < min) min = v[i].key;
    if (v[i].key > max) max = v[i].key;
  }
  if (sorted) return v;
  if (n < RADIX_FROM) return merge_sort(v, spare, n);
  return radix_sort(v, spare, n, min, 64 - (unsigned)__builtin_clzll((uint64_t)max - (uint64_t)min));
}

/* While indices are placed, first[g + 1] is where the next index of group g goes; afterwards, it is the end of the group. */
void keyed_lists(const uint32_t *group, uint32_t n, uint32_t groups, uint32_t *first, uint32_t *list) {
  memset(first, 0, ((size_t)groups + 2) * sizeof *first);
  for (uint32_t i = 0; i < n; i++) first[group[i] + 2]++;
  for (uint32_t g = 2; g <= groups + 1; g++) first[g] += first[g - 1];
  for (uint32_t i = 0; i < n; i++) list[first[group[i] + 1]++] = i;
}
