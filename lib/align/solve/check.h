/* check.h - checks that the aligned clocks satisfy causality, and finds how far each clock could be moved before it violates
 * causality. */
#ifndef ALIGN_SOLVE_CHECK_H
#define ALIGN_SOLVE_CHECK_H

#include "solve.h"

/* Stores causality violations and intervals in s. Returns false when memory runs out. */
bool align_check(struct align_work *w, struct align_solution *s);

#endif
