/* block.h - description of a rank in a merged trace: an element of "ranks" in the object "tracekit". */
#ifndef MERGE_BLOCK_H
#define MERGE_BLOCK_H

#include "op/renumber.h"

struct merge_block {
  const struct tk_merge_rank *rank;
  const struct tk_trace *trace; /* the trace as it is written; NULL = the input is copied unchanged */
  const struct merge_pid *was;  /* original identities of the rank->processes processes */
  bool first;                   /* true if the top-level keys of the rank are at the top of the output */
  bool nameless;                /* true to omit the name of the input */
  const char *account;          /* JSON members, each after a comma, that describe dropped events; NULL = none were dropped */
  const char *machine;          /* machine name that distinguishes the rank's processes from others with equal pids; NULL = none */
};

/* For a merged trace: appends the blocks that its ranks already have, with updated pids and shifts. The trace's own top-level
 * keys go into the first block, unless they are at the top of the output. Returns the number of blocks. */
uint32_t merge_block_print_ranks(struct buf *to, const struct merge_block *block);

/* Appends the block as JSON, on a new line after a comma unless it is the first. A failure shows in the memory of `to`. */
void merge_block_print(struct buf *to, const struct merge_block *block);

#endif
