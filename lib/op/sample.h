/* sample.h - a representative sample of a trace: one event in `every`. */
#ifndef OP_SAMPLE_H
#define OP_SAMPLE_H

#include "graph/subset.h"

struct sample {
  struct tk_trace view; /* the sampled events as a graph (graph/subset.h) */
  uint16_t *depths;     /* by event: its depth in the whole trace, because its ancestors may not be in the sample */
  tk_id n_depths;
};

/* Takes one of every `every` blocks of neighbouring events (1 = all events, 0 = none), and all metadata. The end of each flow
 * whose start is taken is taken as well; otherwise flows would be rarer than in the whole trace. Returns false with err on
 * failure. */
bool sample_take(struct sample *s, const struct tk_trace *t, uint32_t every, struct mem *mem, struct tk_err *err);
void sample_free(struct sample *s, struct mem *mem);

#endif
