/* chain.h - finds the points of one flow by their identity: class and id.
 *
 * A temporary table of point ids for a pass over all flow points of a trace. The caller decides which point represents its
 * chain. */
#ifndef GRAPH_CHAIN_H
#define GRAPH_CHAIN_H

#include "trace.h"

struct chains {
  const struct tk_trace *t;
  struct mem *mem;
  tk_id *slots; /* 0 = free */
  uint32_t mask;
};

/* Allocates room for all points of `t`. Returns false when memory runs out. */
bool chains_init(struct chains *c, const struct tk_trace *t, struct mem *mem);
void chains_free(struct chains *c);

/* Returns the slot of the point that represents the chain of `f`; 0 = none yet. The caller may set it to a point of this chain.
 */
tk_id *chains_of(const struct chains *c, const struct tk_flow_point *f);

static inline bool flow_starts(const struct tk_flow_point *f) { return f->role == TK_FLOW_START || f->role == TK_FLOW_OUT; }

#endif
