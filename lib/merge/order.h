/* order.h - ranks of inputs that state none; order of the inputs, by rank or grouped by host. */
#ifndef MERGE_ORDER_H
#define MERGE_ORDER_H

#include "align.h"

/* Fills places[n] with the position of each input. Inputs are sorted by rank; inputs of equal ranks keep their order. If
 * `by_hosts`, the inputs of a host are adjacent and hosts are sorted by their lowest rank; an input without a known host counts
 * as a host of its own. Returns false if memory runs out. */
bool merge_order(const struct merge_who *who, size_t n, bool by_hosts, uint32_t *places);

/* Gives ranks to the inputs whose rank is -1: their positions if no input states its rank, otherwise the numbers after the highest
 * stated rank. So an input without a rank, such as the trace of a server beside the traces of its workers, takes no worker's number.
 * A merged input, whose ranks are inside, gets its position and counts for nothing. */
void merge_give_ranks(struct merge_who *who, size_t n);

#endif
