/* captured.h - links kernels of replayed CUDA and HIP graphs to the host calls that were captured into the graph. */
#ifndef OP_CAPTURED_H
#define OP_CAPTURED_H

#include "graph/kind.h"
#include "graph/origin.h"

/* Stores in *capture an array by event, which the caller frees: the captured call of each replayed kernel, copy and fill; 0 = unknown.
 * *capture becomes NULL if the trace has no capture. `launch`: by event, the call that launched it. `origins`: by track; may be NULL.
 * Returns false if memory runs out. */
bool captured_find(const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch, struct mem *mem,
                   tk_id **capture);

/* Stores in *captured an array by event, which the caller frees: true for calls that begin while their own thread captures a stream.
 * Such calls only add nodes to a graph, unless they use another stream. Captures without a recorded end are ignored. *captured becomes
 * NULL if the trace has no capture. Returns false if memory runs out. */
bool captured_calls(const struct kinds *kinds, struct mem *mem, bool **captured);

/* A range of time in which a thread recorded a CUDA or HIP graph. */
struct captured_range {
  tk_id track;
  tk_time start, end;
};
struct captured_ranges {
  struct captured_range *v; /* sorted by track, then by start; ranges of one thread may overlap */
  uint32_t n, cap;
};
/* Finds the ranges: from the call that begins the capture of a stream to the call that ends it, and spans of PyTorch that record a
 * graph. The caller frees ranges->v. Returns false if memory runs out. */
bool captured_ranges_find(const struct kinds *kinds, struct mem *mem, struct captured_ranges *ranges);

#endif
