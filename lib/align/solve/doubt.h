/* doubt.h - objections to the answer with the most weight. */
#ifndef ALIGN_SOLVE_DOUBT_H
#define ALIGN_SOLVE_DOUBT_H

#include "posterior.h"

/* Objection to collectives that do not act as barriers. */
extern const char DOUBT_WIDE[];
/* Objection to an answer that ends support and sequence numbers contradict. */
extern const char DOUBT_NUMBERS[];
/* Returns the objection, or NULL; `r` are the residuals of its points. */
const char *doubt_of(const struct question *q, const struct posterior *p, const double *r);

/* True if late ranks explain the objection: it is one to the error, not to the pairing. */
bool doubt_is_lateness(const char *doubt);

/* Returns the size of the pattern in residuals: the spread of the means of blocks beyond noise. */
double doubt_shape(const double *r, uint32_t n, double sigma);

#endif
