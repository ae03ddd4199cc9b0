/* same.c - see same.h. */
#include "same.h"

#include <math.h>

#include "base/curve.h"

enum { FEWEST_SAME = 3 };

struct same same_offset(double *apart, uint32_t n, double most_ns) {
  struct same s = {.n = n};
  if (!n) return s;
  s.offset_ns = round(curve_median(apart, n));
  for (uint32_t i = 0; i < n; i++) apart[i] = fabs(apart[i] - s.offset_ns);
  s.error_ns = fmax(1, curve_nth(apart, n, (uint32_t)(((uint64_t)n * 95 + 99) / 100 - 1)));
  s.sound = n >= FEWEST_SAME && s.error_ns <= most_ns;
  return s;
}
