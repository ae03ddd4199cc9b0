/* chain.h - the points of one flow, found by their identity: class and id.
 *
 * A table of point ids that is made for a walk over all points of a trace and thrown away behind it.  The caller decides which
 * point stands for its chain. */
#ifndef GRAPH_CHAIN_H
#define GRAPH_CHAIN_H

#include "trace.h"

struct chains {
  const struct tk_trace *t;
  struct mem *mem;
  tk_id *slots; /* 0 = free */
  uint32_t mask;
};

/* Room for all points of `t`.  False when memory runs out. */
bool chains_init(struct chains *c, const struct tk_trace *t, struct mem *mem);
void chains_free(struct chains *c);

/* The point that stands for the chain of `f`, 0 = none yet: set it to a point of this chain, or leave it. */
tk_id *chains_of(const struct chains *c, const struct tk_flow_point *f);

static inline bool flow_starts(const struct tk_flow_point *f) { return f->role == TK_FLOW_START || f->role == TK_FLOW_OUT; }

#endif
