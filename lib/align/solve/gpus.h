/* gpus.h - handles GPU clocks that differ from the clock of their CPU.
 *
 * Collectives align the clock of the GPU. The CPU tracks move by the same amount, which is right only if both clocks agree. */
#ifndef ALIGN_SOLVE_GPUS_H
#define ALIGN_SOLVE_GPUS_H

#include "solve.h"

/* Widens the errors of hosts whose GPU clocks differ or may differ from the CPU clock. If a rank leaves collectives at other times than
 * the ranks with the same host name, there are three possible causes: the rank is late, the clock of its host differs, or only the
 * clock of its GPU does. Returns false when memory runs out. */
bool gpus_widen(const struct align_work *w, struct align_solution *s);

#endif
