/* merge_order.h - in which order the rows of several hosts stand. */
#ifndef COMMAND_MERGE_ORDER_H
#define COMMAND_MERGE_ORDER_H

#include "merge_align.h"

/* Fills places[n]: the place of each input's rows by rank, equals as they came; `by_hosts`, when those of one host stand together,
 * hosts by their lowest rank.  Inputs of no known host are each one of their own.  False when memory runs out. */
bool merge_order(const struct merge_who *who, size_t n, bool by_hosts, uint32_t *places);

#endif
