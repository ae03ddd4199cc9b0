/* launches.h - which call of the CPU launched a kernel, and what it was a part of. */
#ifndef ALIGN_LAUNCHES_H
#define ALIGN_LAUNCHES_H

#include "base/map.h"
#include "graph/origin.h"
#include "graph/trace.h"

struct launches {
  const struct tk_trace *t;
  const struct track_origin *origins; /* of a merged trace, by track: correlations are each rank's own; or NULL */
  struct map calls; /* correlation -> event */
};

/* Of the kernels that `wanted` has a bit for, by class.  False when memory runs out. */
bool launches_find(struct launches *l, const struct tk_trace *t, const struct track_origin *origins, const uint64_t *wanted,
                   struct mem *mem);
void launches_free(struct launches *l);

/* Are the clocks of GPU and CPU one?  No kernel begins before it is launched, and no wait for it ends before it does. */
struct launch_check {
  uint32_t kernels, early; /* that were looked at; that begin before their launch */
  tk_time most;            /* by that much the earliest of them */
  uint32_t waits, late;    /* of the CPU for the GPU; that end before what they wait for does */
  tk_time middle;          /* by that much the one in the middle of all waits: some are for other streams than it seems */
};
bool launches_check(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem, struct launch_check *out);

/* The call that launched the kernel, 0 = not known. */
tk_id launches_call(const struct launches *l, const struct tk_event *kernel);
/* The event around the call that names the collective: "record_param_comms", "nccl:all_reduce"; 0 = none. */
tk_id launches_collective(const struct launches *l, tk_id call);

#endif
