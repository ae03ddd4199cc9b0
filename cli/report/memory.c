/* memory.c - see memory.h. */
#include "memory.h"

#include <stdio.h>
#include <string.h>

const char *memory_name(int64_t rank, const char *allocator, char *text, size_t n) {
  if (rank >= 0) snprintf(text, n, "rank %lld, %s", (long long)rank, allocator);
  else snprintf(text, n, "%s", allocator);
  return text;
}

size_t memory_place(const struct tk_report *r, size_t i, size_t before) {
  const struct tk_report_held *row = &r->held[i], *last = i ? row - 1 : NULL;
  const bool same = last && row->rank == last->rank && strcmp(row->allocator, last->allocator) == 0;
  return same ? before + 1 : 0;
}
