/* check.h - checks that the aligned clocks keep causality, and finds how far each could be moved before it is violated. */
#ifndef ALIGN_SOLVE_CHECK_H
#define ALIGN_SOLVE_CHECK_H

#include "solve.h"

/* Stores causality violations and intervals in s. */
bool align_check(struct align_work *w, struct align_solution *s);

#endif
