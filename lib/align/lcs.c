/* lcs.c - the longest common subsequence of two lists of labels (lcs.h). */
#include "lcs.h"

#include <string.h>

bool lcs(struct arena *arena, const struct lcs *l, uint32_t *partner) {
  uint32_t head = 0, tail = 0, n, m;
  while (head < l->n_a && head < l->n_b && l->a[head] == l->b[head]) head++;
  while (tail < l->n_a - head && tail < l->n_b - head && l->a[l->n_a - 1 - tail] == l->b[l->n_b - 1 - tail]) tail++;
  n = l->n_a - head - tail;
  m = l->n_b - head - tail;
  for (uint32_t i = 0; i < l->n_b; i++) partner[i] = i < head ? i : i >= l->n_b - tail ? l->n_a - (l->n_b - i) : UINT32_MAX;
  if (n == 0 || m == 0) return true;
  if (n > UINT16_MAX || m > UINT16_MAX) return false;
  size_t width = (size_t)m + 1;
  uint16_t *length = arena_alloc(arena, (n + 1) * width * sizeof *length); /* of the rest from (i, k) on */
  if (!length) return false;
  memset(length, 0, (n + 1) * width * sizeof *length);
  for (uint32_t i = n; i-- > 0;) {
    for (uint32_t k = m; k-- > 0;) {
      uint16_t down = length[(i + 1) * width + k], right = length[i * width + k + 1];
      bool equal = l->a[head + i] == l->b[head + k];
      length[i * width + k] = equal ? (uint16_t)(length[(i + 1) * width + k + 1] + 1) : down > right ? down : right;
    }
  }
  for (uint32_t i = 0, k = 0; i < n && k < m;) {
    if (l->a[head + i] == l->b[head + k]) partner[head + k++] = head + i++;
    else if (length[(i + 1) * width + k] >= length[i * width + k + 1]) i++;
    else k++;
  }
  return true;
}
