/* share.h - divides a size limit for the merged trace among the ranks.
 *
 *     shares.c             computes each rank's share before any rank is written
 *     share_rank.c         shrinks a rank to its share
 *     gone.c               lists dropped events of all ranks by name, for the end of the output
 *
 * Users compare the slowest rank with a typical one, so these two are kept whole if half of the limit is enough for both. The remaining
 * bytes are divided among the other ranks; none gets more than its estimated need, unless the limit is enough for all. Shares are
 * computed from scans only, so that each rank can be shrunk on the machine that stores it. */
#ifndef MERGE_SHARE_H
#define MERGE_SHARE_H

#include "merger.h"

enum merge_role { MERGE_ROLE_NONE, MERGE_ROLE_SLOW, MERGE_ROLE_TYPICAL };
extern const char *const merge_role_names[]; /* indexed by enum merge_role; "" for MERGE_ROLE_NONE */

/* Shrinks the trace of input `input` to its share, directly before it is written. Sets *account to JSON members, for the rank's block,
 * that describe the dropped events; "" = none were dropped. Returns false on failure, with the error in m->err. */
bool merge_share_take(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, const struct merge_pid *was,
                      struct buf *account);

#endif
