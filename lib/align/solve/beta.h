/* beta.h - logarithms of the beta function and of binomial coefficients. */
#ifndef ALIGN_SOLVE_BETA_H
#define ALIGN_SOLVE_BETA_H

#include <math.h>

/* Returns ln of the gamma function. Uses lgamma_r(), because lgamma() writes to a global variable that threads share. */
static inline double beta_log_gamma(double x) { return lgamma_r(x, &(int){0}); }
static inline double beta_log(double a, double b) { return beta_log_gamma(a) + beta_log_gamma(b) - beta_log_gamma(a + b); }
/* Returns the logarithm of the number of ways to choose k of n. */
static inline double beta_log_choices(double n, double k) { return -log(n + 1) - beta_log(n - k + 1, k + 1); }

#endif
