/* sample.h - a part of a trace that represents the whole: one event in `every`, with the same properties on average. */
#ifndef OP_SAMPLE_H
#define OP_SAMPLE_H

#include "graph/subset.h"

struct sample {
  struct tk_trace view; /* the sampled events as a graph (graph/subset.h) */
  uint16_t *depths;     /* by event: its depth in the whole trace, because its ancestors may not be in the sample */
  tk_id n_depths;
};

/* Takes one block of neighbouring events out of every `every` blocks; 1 = all events, 0 = none. Takes all metadata. If the
 * event at the start of a flow is taken, so is the event at its end; flows are then as frequent as in the whole trace. Returns
 * false with err on failure. */
bool sample_take(struct sample *s, const struct tk_trace *t, uint32_t every, struct mem *mem, struct tk_err *err);
void sample_free(struct sample *s, struct mem *mem);

#endif
