/* gpus.h - clocks of GPUs that are off from the clocks of their CPUs.
 *
 * Collectives place the clock of the GPU. The rows of the CPU are moved along, which is right only if both clocks agree. */
#ifndef ALIGN_SOLVE_GPUS_H
#define ALIGN_SOLVE_GPUS_H

#include "solve.h"

/* Widens the claims of hosts whose GPU clocks are off, or may be: a rank that leaves apart from the others of its name is late,
 * or has another clock, or its GPU has. Returns false when memory runs out. */
bool gpus_widen(const struct align_work *w, struct align_solution *s);

#endif
