/* phases.h - the phase of each event, from the spans around it or around the call that launched it (phase_names.h). */
#ifndef OP_PHASES_H
#define OP_PHASES_H

#include "graph/phase_names.h"
#include "graph/steps.h"
#include "links.h"

struct phases {
  struct mem *mem;
  uint8_t *of; /* by event: enum phase */
};

bool phases_init(struct phases *p, const struct kinds *kinds, const struct steps *steps, const struct links *links, struct mem *mem);
void phases_free(struct phases *p);

#endif
