/* doubt.h - finds objections to the answer with the most weight. */
#ifndef ALIGN_SOLVE_DOUBT_H
#define ALIGN_SOLVE_DOUBT_H

#include "posterior.h"

/* Objection: the collectives do not act as barriers. */
extern const char DOUBT_WIDE[];
/* Objection: ends and sequence numbers contradict each other. */
extern const char DOUBT_NUMBERS[];
/* Objection: ranks on CPUs leave collectives when they are scheduled, so the wall clock is the better guess. */
extern const char DOUBT_SCHEDULED[];
/* Returns why the answer may be wrong; NULL if nothing indicates that. `r`: residuals of the answer's points. */
const char *doubt_of(const struct question *q, const struct posterior *p, const double *r);

/* True if late ranks explain the objection. It then concerns the size of the error, not the pairing. */
bool doubt_is_lateness(const char *doubt);

/* Returns the size of a pattern in residuals: the spread of block means that exceeds noise. */
double doubt_shape(const double *r, uint32_t n, double sigma);

#endif
