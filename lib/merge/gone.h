/* gone.h - counts the dropped events of all ranks by name. */
#ifndef MERGE_GONE_H
#define MERGE_GONE_H

#include "share.h"

/* Adds dropped events of one name, over all ranks. Returns false if memory runs out. */
bool merge_gone_add(struct merge_gone *g, uint32_t kind, const char *name, size_t n, uint64_t count, i128 total_ps);
void merge_gone_free(struct merge_gone *g);

/* Appends the table as a JSON member. The names with the most time are listed one by one, as many as fit, and the other names
 * as one sum. A failure shows in the memory of `b`. */
void merge_gone_print(struct merger *m, struct buf *b);

#endif
