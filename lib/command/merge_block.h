/* merge_block.h - what a merged trace says of each of its ranks: an element of "ranks" in the object "tracekit". */
#ifndef COMMAND_MERGE_BLOCK_H
#define COMMAND_MERGE_BLOCK_H

#include "op/renumber.h"

struct merge_block {
  const struct tk_merge_rank *rank;
  const struct tk_trace *trace; /* as it is written; NULL = the input goes into the output as it is */
  const struct merge_pid *was;  /* rank->processes of them: which process was which */
  bool first;                   /* its top-level keys stand at the top of the output */
  bool nameless;                /* what the input is called is not said */
  const char *account;          /* of what was left out of it: members of JSON behind a comma; NULL = nothing was */
};

/* Of a merged trace: appends the blocks of its ranks, as they are but for pids and shifts.  Its own top-level keys go into the first of
 * them, unless they stand at the top of the output.  Returns how many. */
uint32_t merge_block_print_ranks(struct buf *to, const struct merge_block *block);

/* Appends the block as JSON, on a line of its own behind a comma unless it is the first.  Failure sticks in the memory of `to`. */
void merge_block_print(struct buf *to, const struct merge_block *block);

#endif
