/* times.c - see times.h. */
#include "times.h"

#include "base/num.h"
#include "format/format.h"

/* Clamps an offset, so that the times of the trace plus the offset do not overflow 64 bits. */
static int64_t within(int64_t ns) {
  const int64_t most = 8000000000000000000;
  return ns > most ? most : ns < -most ? -most : ns;
}

struct times times_of(const struct tk_trace *t) {
  const struct format *f = t->format ? format_by_name(t->format) : NULL;
  const int64_t base = within((int64_t)((uint64_t)t->origin_ns - (uint64_t)t->zero_ns)), us = times_floor(base, 1000);
  return (struct times){
      .base_ns = base, .base_us = us, .base_ps = (int32_t)(base - us * 1000) * 1000, .exact = f && f->info.resolution >= 1000,
      .thousands = f ? f->engine.thousands : 0};
}

int64_t times_multiplied(const struct times *c, tk_time at) {
  const int64_t ns = times_floor(at, 1000) + c->base_ns, ps = at - times_floor(at, 1000) * 1000, most = INT64_MAX / 1000 - 1;
  const int exp = -3 * c->thousands;
  const bool small = ns < most && ns > -most;
  double v = small && ps ? num_nearest(ns * 1000 + ps, exp - 3) : num_nearest(ns, exp);
  for (int i = 0; i < c->thousands; i++) v *= 1000;
  return v >= 9.2e18 || v <= -9.2e18 ? ns : (int64_t)v;
}
