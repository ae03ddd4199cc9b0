/* gpus.h - handles GPU clocks that differ from the clock of their CPU.
 *
 * Collectives align the clock of the GPU. The CPU tracks move by the same amount, which is right only if both clocks agree. */
#ifndef ALIGN_SOLVE_GPUS_H
#define ALIGN_SOLVE_GPUS_H

#include "solve.h"

/* Widens the errors of hosts whose GPU clocks differ or may differ from the CPU clock. If a rank leaves collectives apart from
 * other ranks with the same host name, it may be late, its clock may differ, or only its GPU's clock. Returns false when memory
 * runs out. */
bool gpus_widen(const struct align_work *w, struct align_solution *s);

#endif
