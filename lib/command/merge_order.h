/* merge_order.h - in which order the rows of several hosts stand. */
#ifndef COMMAND_MERGE_ORDER_H
#define COMMAND_MERGE_ORDER_H

#include "merge_align.h"

/* Fills places[n]: the place of each input's rows when those of one host stand together, hosts by their lowest rank, inputs of a
 * host by rank, equals as they came.  Inputs of no known host are each one of their own.  False when memory runs out. */
bool merge_order(const struct merge_who *who, size_t n, uint32_t *places);

#endif
