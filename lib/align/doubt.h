/* doubt.h - what speaks against the answer that weighs most. */
#ifndef ALIGN_DOUBT_H
#define ALIGN_DOUBT_H

#include "posterior.h"

/* What is said of collectives that are no barriers. */
extern const char DOUBT_WIDE[];
/* NULL, or what; `r` are the residuals of its points. */
const char *doubt_of(const struct question *q, const struct posterior *p, const double *r);

/* How large what is left is besides noise: of the means of blocks, what noise does not make of them. */
double doubt_shape(const double *r, uint32_t n, double sigma);

#endif
