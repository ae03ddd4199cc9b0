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

/* Shrinks the trace, which is ready to be written as input `input`, to its share. *account becomes the JSON members of its
 * block that describe what was dropped: "" = nothing. */
bool merge_share_take(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, const struct merge_pid *was,
                      struct buf *account);

#endif
