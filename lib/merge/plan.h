/* plan.h - decisions of a merge before it writes anything (merger.h); they are the same from scans as from the inputs. */
#ifndef MERGE_PLAN_H
#define MERGE_PLAN_H

#include "merger.h"

/* True if inputs are joined. A single input stays unchanged unless the options require more: merging one trace is converting
 * it. */
bool merge_joins(const struct merger *m);
const char *merge_label(const struct merger *m);

/* Settles the clocks, the order of inputs and rows, and the folders that labels need to distinguish inputs. */
bool merge_plan(struct merger *m);

/* Returns the place of an input that claims this rank, -1 = none. *claimed becomes the rank that it claims, *other 1 + the
 * input that claimed the same rank before, or 0. */
int64_t merge_slot(struct merger *m, size_t input, int64_t rank, int64_t *claimed, uint32_t *other);

/* Returns the new pids of the next input's processes, whose visible pids are `pids`; pids given before are not given again.
 * NULL if memory runs out; the caller frees the result. */
struct pid_change *merge_pids(struct merger *m, const int64_t *pids, uint32_t n);

#endif
