/* block.h - description of a rank in a merged trace: an element of "ranks" in the object "tracekit". */
#ifndef MERGE_BLOCK_H
#define MERGE_BLOCK_H

#include "op/renumber.h"

struct merge_block {
  const struct tk_merge_rank *rank;
  const struct tk_trace *trace; /* the trace as it is written; NULL = the input is copied unchanged */
  const struct merge_pid *was;  /* original pids; the array has rank->processes elements */
  bool first;                   /* true if the rank and the output have the same top-level keys */
  bool nameless;                /* true to omit the name of the input */
  const char *account;          /* JSON members, each after a comma, that describe dropped events; NULL = none were dropped */
  const char *machine;          /* machine name that distinguishes the rank's processes from others with equal pids; NULL = none */
};

/* For a trace that is itself merged: appends the existing blocks of its ranks, with updated pids and shifts. The trace's own top-level
 * keys go into the first block, unless they become top-level keys of the output. Returns the number of blocks. */
uint32_t merge_block_print_ranks(struct buf *to, const struct merge_block *block);

/* Appends the block as JSON, after a comma and a line break unless it is the first. If memory runs out, to->mem records it. */
void merge_block_print(struct buf *to, const struct merge_block *block);

#endif
