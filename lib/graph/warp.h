/* warp.h - a correction of times by amounts that vary over time, such as for a clock that drifts. */
#ifndef GRAPH_WARP_H
#define GRAPH_WARP_H

#include "base/curve.h"
#include "tracekit.h"

struct warp {
  struct curve curve;  /* ns to subtract, by ns since the pivot */
  int64_t to_pivot_ps; /* ps from the pivot to the origin of the uncorrected times */
  double level;        /* constant part of the curve in ns, applied to the origin and so subtracted here */
};

/* Corrects a time in ps since the origin, and rounds it to whole nanoseconds: finer digits would be meaningless, and nesting would
 * break in viewers that round start and duration separately. */
tk_time warp_time(const struct warp *s, tk_time ts);
/* Corrects a time in ns, which may be beyond the range of tk_time. */
int64_t warp_ns(const struct warp *s, int64_t ns);

#endif
