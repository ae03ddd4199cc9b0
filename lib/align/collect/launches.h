/* launches.h - finds the CPU call that launched a kernel, and the op around that call. */
#ifndef ALIGN_COLLECT_LAUNCHES_H
#define ALIGN_COLLECT_LAUNCHES_H

#include "base/map.h"
#include "graph/accelerator.h"
#include "graph/origin.h"
#include "graph/trace.h"

struct launches {
  const struct tk_trace *t;
  const struct track_origin *origins; /* for a merged trace: rank by track, because correlation ids are per rank; otherwise NULL */
  struct map calls; /* correlation id -> event */
  tk_id keys[ACCELERATOR_LINKS]; /* keys of args that contain the correlation id */
  uint32_t n_keys;
};

/* Indexes the launches of kernels whose class is set in `wanted`. Returns false when memory runs out. */
bool launches_find(struct launches *l, const struct tk_trace *t, const struct track_origin *origins, const uint64_t *wanted,
                   struct mem *mem);
void launches_free(struct launches *l);

/* Result of comparing the clocks of GPU and CPU. If they agree, no kernel starts before its launch, and no wait ends before the awaited
 * kernel ends. */
struct launch_check {
  uint32_t kernels, early; /* number of kernels examined; number of kernels that start before their launch */
  tk_time most;            /* longest time by which a kernel precedes its launch */
  uint32_t waits, late;    /* number of CPU waits examined; number of waits that end before the work ends */
  tk_time middle;          /* median time by which waits end early; the median, because a few may wait for another stream than
                            * assumed */
  tk_time soonest;         /* shortest time from a launch to its kernel; valid if `kernels` is not 0 */
};
bool launches_check(const struct tk_trace *t, const struct track_origin *origins, struct mem *mem, struct launch_check *out);

/* Returns the call that launched the kernel; 0 = unknown. */
tk_id launches_call(const struct launches *l, const struct tk_event *kernel);
/* Returns the span around the call that names the collective, such as "record_param_comms" or "nccl:all_reduce"; 0 if there is
 * none. */
tk_id launches_collective(const struct launches *l, tk_id call);

#endif
