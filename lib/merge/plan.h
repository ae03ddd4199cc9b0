/* plan.h - makes the decisions of a merge that precede all writing (merger.h). The decisions are the same whether scans or the
 * inputs themselves are read. */
#ifndef MERGE_PLAN_H
#define MERGE_PLAN_H

#include "merger.h"

/* True if the output is a merged trace with labels and blocks. False for a single input without options that require these: it is only
 * converted. */
bool merge_joins(const struct merger *m);
const char *merge_label(const struct merger *m);

/* Decides on the clocks, on the order of inputs and their processes, and on the folders that labels need to distinguish inputs.
 * Returns false on failure, with the error in m->err. */
bool merge_plan(struct merger *m);

/* Returns the rank that an input without one was given (merge_give_ranks); if the inputs were not
 * read before, a number above the ranks that the names of inputs state. */
int64_t merge_given_rank(const struct merger *m, size_t input);

/* Claims a rank for an input, and returns its slot: the rank itself, or the next free number if the rank was claimed before.
 * rank: -1 = none, which claims the rank that the input was given. Sets *claimed to the claimed number, and *other to 1 + the
 * input that claimed it before, or to 0. */
int64_t merge_slot(struct merger *m, size_t input, int64_t rank, int64_t *claimed, uint32_t *other);

/* Returns new pids for the n processes of the next input, which now have the visible pids `pids`. No two calls return the same pid.
 * Returns NULL if memory runs out; the caller frees the result. */
struct pid_change *merge_pids(struct merger *m, const int64_t *pids, uint32_t n);

#endif
