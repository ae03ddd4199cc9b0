/* curve.h - piecewise linear functions, and medians. */
#ifndef BASE_CURVE_H
#define BASE_CURVE_H

#include <stdint.h>

enum { CURVE_KNOTS = 64 };

/* A piecewise linear function y(x), which continues beyond the first and last knot. With one knot it is a constant; without
 * knots it is 0. */
struct curve {
  uint32_t n;
  double x[CURVE_KNOTS], y[CURVE_KNOTS];
};

struct point {
  double x, y;
};

double curve_at(const struct curve *c, double x);
/* Returns the slope dy/dx from the first knot to the last. */
double curve_slope(const struct curve *c);
/* Returns the k-th smallest (from 0) of n > k values; moves smaller values before it. */
double curve_nth(double *v, uint32_t n, uint32_t k);
double curve_median(double *v, uint32_t n); /* reorders v; 0 if n is 0 */

#endif
