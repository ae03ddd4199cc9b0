/* share.h - a size limit for the merged trace, divided among its ranks.
 *
 *     shares.c             computes each rank's share before any rank is written
 *     share_rank.c         shrinks a rank to its share
 *     gone.c               lists dropped events of all ranks by name, for the end of the output
 *
 * The slowest rank and a typical one are kept whole if half of the budget is enough for both, because they are compared. The
 * others share the rest, each up to its need. Shares are computed from scans alone, so that each rank can be shrunk where it is
 * stored. */
#ifndef MERGE_SHARE_H
#define MERGE_SHARE_H

#include "merger.h"

enum merge_role { MERGE_ROLE_NONE, MERGE_ROLE_SLOW, MERGE_ROLE_TYPICAL };
extern const char *const merge_role_names[]; /* "" for MERGE_ROLE_NONE */

/* Computes the shares of the inputs if a size is requested. Call after the clocks are aligned. */
bool merge_shares_plan(struct merger *m);

/* Shrinks the trace, which is ready to be written as input `input`, to its share. *account becomes the JSON members of its
 * block that describe what was dropped: "" = nothing. */
bool merge_share_take(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, const struct merge_pid *was,
                      struct buf *account);

/* False with err set if an output of this many bytes is larger than requested. */
bool merge_fits(const struct tk_merge_options *opt, uint64_t bytes, struct tk_err *err);

/* Counts dropped events of one name, over all ranks. False if memory runs out. */
bool merge_gone_add(struct merge_gone *g, uint32_t kind, const char *name, size_t n, uint64_t count, i128 total_ps);
void merge_gone_free(struct merge_gone *g);
/* Returns the bytes reserved for the table of dropped events, in an output of `to` bytes. */
uint64_t merge_gone_room(uint64_t to);
/* Appends the table as a JSON member: the names with the most time one by one, as many as fit, and the others as one sum. A
 * failure sticks in the memory of `b`. */
void merge_gone_print(struct merger *m, struct buf *b);

#endif
