/* findings_oom.c - the sentence on allocations that failed because memory was exhausted (findings.h). */
#include <stdio.h>
#include <string.h>

#include "findings.h"

void findings_oom(const struct finding_case *c, char *text, size_t n) {
  const struct report_oom *oom = c->oom;
  char wanted[48], left[48], rank[40] = "", free[96] = "", more[64] = "";
  tk_print_size((uint64_t)oom->wanted, wanted);
  if (oom->left >= 0) tk_print_size((uint64_t)oom->left, left), snprintf(free, sizeof free, " while %s was free on the device", left);
  if (oom->rank >= 0) snprintf(rank, sizeof rank, " of rank %lld", (long long)oom->rank);
  if (oom->n > 1) snprintf(more, sizeof more, "; %llu allocations failed", (unsigned long long)oom->n);
  snprintf(text, n, "%.100s%s ran out of memory: the program asked for %s%s%s", oom->allocator, rank, wanted, free, more);
}
