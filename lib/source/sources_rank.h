/* sources_rank.h - ranks of inputs whose names do not state any, from the numbers in which the names differ (ranks.h).
 * Compared are the inputs of one run, or, if every name of the command line yields one input, all of them. */
#ifndef SOURCE_SOURCES_RANK_H
#define SOURCE_SOURCES_RANK_H

#include "sources_impl.h"

/* Finds the ranks of inputs that neither their names nor their contents state, from the numbers in which the names differ. */
bool sources_find_ranks(struct tk_sources *s, struct tk_err *err);

#endif
