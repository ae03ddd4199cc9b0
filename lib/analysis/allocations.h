/* allocations.h - recognises memory allocations. Each is a span from the allocation to the release of the memory. */
#ifndef ANALYSIS_ALLOCATIONS_H
#define ANALYSIS_ALLOCATIONS_H

#include "graph/trace.h"

/* True for an allocation in a memory snapshot: an asynchronous span with the category "memory". `memory`: id of this string; 0 if the
 * trace does not contain it. */
static inline bool allocations_is(const struct tk_trace *t, const struct tk_event *e, tk_id memory) {
  return memory && e->kind == TK_EVENT_SPAN && t->classes[e->cls].cat == memory && t->tracks[e->track].kind == TK_TRACK_ASYNCS;
}

#endif
