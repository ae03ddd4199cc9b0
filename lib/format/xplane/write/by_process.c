/* by_process.c - see by_process.h. */
#include "by_process.h"

#include <string.h>

bool by_process_init(struct by_process *b, const struct tk_trace *t, uint32_t n, tk_id (*process_of)(const void *arg, uint32_t i),
                     const void *arg, struct mem *mem) {
  const size_t room = (size_t)t->n_tracks + 3;
  *b = (struct by_process){.n = t->n_tracks};
  if (n == 0) return true;
  b->first = mem_zeros(mem, room, sizeof *b->first);
  b->members = mem_array(mem, n, sizeof *b->members);
  if (!b->first || !b->members) return false;
  for (uint32_t i = 1; i <= n; i++) b->first[process_of(arg, i) + 2]++;
  for (size_t i = 2; i < room; i++) b->first[i] += b->first[i - 1];
  for (uint32_t i = 1; i <= n; i++) b->members[b->first[process_of(arg, i) + 1]++] = i;
  return true;
}

void by_process_free(struct by_process *b, struct mem *mem) {
  mem_free(mem, b->first);
  mem_free(mem, b->members);
  *b = (struct by_process){0};
}
