/* sample.h - a part of a trace that stands for the whole: what is true of one event in `every` of the whole is true of its events. */
#ifndef OP_SAMPLE_H
#define OP_SAMPLE_H

#include "graph/subset.h"

struct sample {
  struct tk_trace view; /* graph/subset.h */
  uint16_t *depths;     /* by event: how deep it stands in the whole, where its ancestors need not be in the sample */
  tk_id n_depths;
};

/* One block of neighbours in `every` of each track, all with 1, none with 0; metadata as the whole has it.  An event at the end of
 * a flow goes with the one at its start, so that flows are as frequent as in the whole. */
bool sample_take(struct sample *s, const struct tk_trace *t, uint32_t every, struct mem *mem, struct tk_err *err);
void sample_free(struct sample *s, struct mem *mem);

#endif
