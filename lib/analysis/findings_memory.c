/* findings_memory.c - what findings say about memory (findings.h): the part of a peak that was allocated before the recording, and
 * allocations that failed because memory was exhausted. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "findings.h"

void findings_memory(const struct finding_case *c, char *text, size_t n) {
  const struct tk_report_memory *m = c->memory;
  char peak[48], all[48], rank[40] = "";
  tk_print_size((uint64_t)m->peak_allocated, peak);
  tk_print_size((uint64_t)m->capacity, all);
  if (m->rank >= 0) snprintf(rank, sizeof rank, " of rank %lld", (long long)m->rank);
  snprintf(text, n, "%.100s%s allocated %s of %s, %s%% of its memory", m->allocator, rank, peak, all, num_fixed(c->figure, 1).s);
}

/* Returns the part of the peak that was allocated before the recording began, in bytes; 0 if it is unknown. */
static double early_part(const struct finding_case *c) {
  const struct tk_report_memory *m = c->memory;
  for (size_t i = 0; i < c->r->n_held; i++) {
    const struct tk_report_held *h = &c->r->held[i];
    if (!h->recorded && h->rank == m->rank && strcmp(h->allocator, m->allocator) == 0) return h->bytes;
  }
  return 0;
}

bool findings_is_early(const struct finding_case *c) { return early_part(c) >= c->memory->peak_allocated * 9 / 10; }

void findings_oom(const struct finding_case *c, char *text, size_t n) {
  const struct report_oom *oom = c->oom;
  char wanted[48], left[48], rank[40] = "", free[96] = "", more[64] = "";
  tk_print_size((uint64_t)oom->wanted, wanted);
  if (oom->left >= 0) tk_print_size((uint64_t)oom->left, left), snprintf(free, sizeof free, " while %s was free on the device", left);
  if (oom->rank >= 0) snprintf(rank, sizeof rank, " of rank %lld", (long long)oom->rank);
  if (oom->n > 1) snprintf(more, sizeof more, "; %llu allocations failed", (unsigned long long)oom->n);
  snprintf(text, n, "%.100s%s ran out of memory: the program asked for %s%s%s", oom->allocator, rank, wanted, free, more);
}
