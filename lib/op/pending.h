/* pending.h - recognises spans of asynchronous collectives on host threads.
 *
 * The record functions of PyTorch's process groups ("gloo:all_reduce", "hccl:all_to_all") last until the collective has ended. The
 * thread goes on meanwhile, so what it runs is inside the span by time, although the collective did not call it. */
#ifndef OP_PENDING_H
#define OP_PENDING_H

#include "graph/kind.h"
#include "graph/within.h"

/* True for a collective of a process group that ends later than the operator in which it begins, or that contains annotations, Python
 * frames or operators of a model. Its own calls, such as copies, are no evidence. */
bool pending_is(const struct kinds *kinds, tk_id event);
/* Returns the end of the part of a span in which its thread runs nothing else. For a pending collective, this is the end of the
 * operator that started it or, if that is unknown or later, the start of the first event of the model. For all other events, it is
 * their end. */
tk_time pending_end(const struct kinds *kinds, tk_id event);
/* Adds an event as within_add does, except that a pending collective contains only events of this part. */
bool pending_add(struct within *w, const struct kinds *kinds, tk_id event, struct within_span around, uint32_t node);

#endif
