/* warp.c - evaluates corrections of times. Events and passthrough packets are corrected by the same function, so that they still agree
 * to the nanosecond. */
#include "warp.h"

#include <math.h>

#include "base/int128.h"

static i128 rounded_ns(const struct warp *s, i128 ps) {
  const double x = ((double)ps + (double)s->to_pivot_ps) / 1000;
  const double by = (curve_at(&s->curve, x) - s->level) * 1000;
  const i128 moved = ps - llround(fmax(-9e18, fmin(9e18, by))); /* a damaged packet may have any time */
  i128 ns = moved / 1000, rest = moved % 1000;
  if (rest < 0) rest += 1000, ns--;
  return ns + (rest >= 500);
}

tk_time warp_time(const struct warp *s, tk_time ts) { return (tk_time)(rounded_ns(s, ts) * 1000); }

int64_t warp_ns(const struct warp *s, int64_t ns) {
  const i128 moved = rounded_ns(s, (i128)ns * 1000);
  return moved > INT64_MAX ? INT64_MAX : moved < INT64_MIN ? INT64_MIN : (int64_t)moved;
}
