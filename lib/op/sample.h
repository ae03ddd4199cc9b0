/* sample.h - a part of a trace that represents the whole: one event in `every`, with the same properties on average. */
#ifndef OP_SAMPLE_H
#define OP_SAMPLE_H

#include "graph/subset.h"

struct sample {
  struct tk_trace view; /* graph/subset.h */
  uint16_t *depths;     /* by event: its depth in the whole trace, because its ancestors may not be in the sample */
  tk_id n_depths;
};

/* Takes one block of neighbouring events in `every`; 1 = all events, 0 = none. Metadata is taken completely. An event at the
 * end of a flow is taken if the one at its start is, so that flows are as frequent as in the whole trace. */
bool sample_take(struct sample *s, const struct tk_trace *t, uint32_t every, struct mem *mem, struct tk_err *err);
void sample_free(struct sample *s, struct mem *mem);

#endif
