/* merge_share.h - a size for the merged trace, shared among its ranks.
 *
 *     merge_shares.c       before any rank is written: what each may spend
 *     merge_share_rank.c   a rank is shrunk to its share
 *     merge_gone.c         what went of all ranks, by name, for the end of the output
 *
 * The slowest rank and a typical one are kept whole where half of the budget is enough for both, for they are what is compared; the
 * others have the rest, each up to what it needs.  Shares are settled by scans alone, so that a rank is shrunk where it lies. */
#ifndef COMMAND_MERGE_SHARE_H
#define COMMAND_MERGE_SHARE_H

#include "merger.h"

enum merge_role { MERGE_ROLE_NONE, MERGE_ROLE_SLOW, MERGE_ROLE_TYPICAL };
extern const char *const merge_role_names[]; /* "" for none */

/* Of a merge whose clocks are settled: the shares of its inputs, if a size is asked for. */
bool merge_shares_plan(struct merger *m);

/* Shrinks the trace, which is ready to be written as input `input`, to its share; what is to be said of that in its block becomes
 * *account, as members of JSON: "" = nothing went. */
bool merge_share_take(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, const struct merge_pid *was,
                      struct buf *account);

/* Is an output of so many bytes as small as was asked for? */
bool merge_fits(const struct tk_merge_options *opt, uint64_t bytes, struct tk_err *err);

/* Events of one name that went, of all ranks. */
bool merge_gone_add(struct merge_gone *g, uint32_t kind, const char *name, size_t n, uint64_t count, i128 total_ps);
void merge_gone_free(struct merge_gone *g);
/* Room for the account of what went by name, of an output of so many bytes. */
uint64_t merge_gone_room(uint64_t to);
/* Appends the account as a member of JSON: the names that take most time one by one, as many as there is room for, the others as one.
 * Failure sticks in the memory of b. */
void merge_gone_print(struct merger *m, struct buf *b);

#endif
