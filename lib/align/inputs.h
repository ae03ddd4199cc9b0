/* inputs.h - lists ranks and clocks of inputs for the solver. */
#ifndef ALIGN_INPUTS_H
#define ALIGN_INPUTS_H

#include "report.h"

/* Sets p->wall, p->rank and p->gpu for p->n_inputs inputs. Returns false when memory runs out. */
bool inputs_list(struct align_problem *p, const struct align_input *inputs, struct arena *arena);

#endif
