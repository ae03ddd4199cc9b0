/* allocations.h - recognises allocations of memory, which are spans that last as long as the memory is held. */
#ifndef ANALYSIS_ALLOCATIONS_H
#define ANALYSIS_ALLOCATIONS_H

#include "graph/trace.h"

/* True for an allocation of a memory snapshot: an asynchronous span. `memory`: the string "memory", 0 if the trace does not have it. */
static inline bool allocations_is(const struct tk_trace *t, const struct tk_event *e, tk_id memory) {
  return memory && e->kind == TK_EVENT_SPAN && t->classes[e->cls].cat == memory && t->tracks[e->track].kind == TK_TRACK_ASYNCS;
}

#endif
