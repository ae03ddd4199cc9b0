/* pending.h - recognises spans of asynchronous collectives on host threads.
 *
 * The record functions of PyTorch's process groups ("gloo:all_reduce", "hccl:all_to_all") last until the collective has ended. The
 * thread goes on meanwhile, so what it runs is inside the span by time, although the collective did not call it. */
#ifndef ANALYSIS_PENDING_H
#define ANALYSIS_PENDING_H

#include "graph/kind.h"

/* True for a collective of a process group that ends later than the operator in which it begins, or that contains annotations, Python
 * frames or operators of a model. Its own calls, such as copies, are no evidence. */
bool pending_is(const struct kinds *kinds, tk_id event);

#endif
