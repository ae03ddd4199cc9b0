/* pending.h - recognises spans of asynchronous collectives on host threads.
 *
 * The spans that PyTorch's process groups record ("gloo:all_reduce", "hccl:all_to_all") last until the collective has ended. Meanwhile
 * the thread continues, so later events of the thread are inside the span by time, although the collective did not call them. */
#ifndef OP_PENDING_H
#define OP_PENDING_H

#include "graph/kind.h"
#include "graph/within.h"

/* True for a pending collective: a process group's collective that ends after the span in which it begins, or that contains
 * annotations, Python frames or operators of a model. Calls that a collective itself makes, such as copies, do not count. */
bool pending_is(const struct kinds *kinds, tk_id event);
/* Returns the time up to which events inside a span belong to it. For a pending collective, this is the end of the span around it, or
 * the start of the first event of the model, whichever is earlier. For all other events, it is their end. */
tk_time pending_end(const struct kinds *kinds, tk_id event);
/* Same as within_add, except that a pending collective contains only events that start before pending_end. */
bool pending_add(struct within *w, const struct kinds *kinds, tk_id event, struct within_span around, uint32_t node);

#endif
