/* gone.h - counts the dropped events of all ranks by name. */
#ifndef MERGE_GONE_H
#define MERGE_GONE_H

#include "share.h"

/* Adds `count` dropped events of this name to the sum over all ranks. Returns false if memory runs out. */
bool merge_gone_add(struct merge_gone *g, uint32_t kind, const char *name, size_t n, uint64_t count, i128 total_ps);
void merge_gone_free(struct merge_gone *g);

/* Appends the table as a JSON member. Lists the names with the most time, as many as fit, and then the sum of all other names. If
 * memory runs out, b->mem records it. */
void merge_gone_print(struct merger *m, struct buf *b);

#endif
