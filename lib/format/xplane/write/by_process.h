/* by_process.h - groups elements of a graph by process, because planes are written one by one, and there may be thousands of
 * planes. */
#ifndef FORMAT_XPLANE_WRITE_BY_PROCESS_H
#define FORMAT_XPLANE_WRITE_BY_PROCESS_H

#include "graph/trace.h"

/* Indices of tracks, lines etc., ascending, grouped by process. */
struct by_process {
  uint32_t *first; /* by track, plus a final entry: index in the list of its first element */
  uint32_t *members;
  uint32_t n;      /* number of tracks */
};

/* Groups the indices 1 .. n by the track that process_of returns; 0 = no process. Returns false when memory runs out. */
bool by_process_init(struct by_process *b, const struct tk_trace *t, uint32_t n, tk_id (*process_of)(const void *arg, uint32_t i),
                     const void *arg, struct mem *mem);
void by_process_free(struct by_process *b, struct mem *mem);

/* Returns the *n indices of the process. */
static inline const uint32_t *by_process(const struct by_process *b, tk_id process, uint32_t *n) {
  *n = b->first && process <= b->n ? b->first[process + 1] - b->first[process] : 0;
  return *n ? b->members + b->first[process] : NULL;
}

#endif
