/* same.c - see same.h. */
#include "same.h"

#include <math.h>

#include "base/curve.h"

enum { FEWEST_SAME = 3 };

struct same same_offset(struct mem *mem, const struct same_event *v, uint32_t n, double most_ns) {
  struct same s = {.n = n};
  double *apart = mem_array(mem, n, sizeof *apart);
  if (!apart || !n) {
    mem_free(mem, apart);
    return s;
  }
  for (uint32_t i = 0; i < n; i++) apart[i] = (v[i].start + v[i].end) / 2;
  s.offset_ns = round(curve_median(apart, n));
  for (uint32_t i = 0; i < n; i++) apart[i] = fmax(fabs(v[i].start - s.offset_ns), fabs(v[i].end - s.offset_ns));
  s.error_ns = fmax(1, curve_nth(apart, n, (uint32_t)(((uint64_t)n * 95 + 99) / 100 - 1)));
  s.sound = n >= FEWEST_SAME && s.error_ns <= most_ns;
  mem_free(mem, apart);
  return s;
}
