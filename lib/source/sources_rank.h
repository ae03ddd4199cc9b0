/* sources_rank.h - finds ranks of inputs whose names do not state a rank, by the numbers in which the names differ (ranks.h).
 * The inputs of one run are compared; if every name on the command line yields one input, all inputs are compared. */
#ifndef SOURCE_SOURCES_RANK_H
#define SOURCE_SOURCES_RANK_H

#include "sources_impl.h"

/* Finds the ranks of inputs if neither their names nor their contents state them. Returns false with err on failure. */
bool sources_find_ranks(struct tk_sources *s, struct tk_err *err);

#endif
