/* times.h - times in nanoseconds, equal to the times of Perfetto's trace_processor for the same file.
 *
 * trace_processor counts in the time base of the file, not from an epoch. It converts decimal microseconds through a double: integer
 * microseconds are exact, others are rounded in the last place, and beyond 2^53 ns they are about 250 ns apart. Durations are rounded
 * separately, unless begin and end were separate events. Times of profiles in seconds or milliseconds are multiplied as doubles, and
 * the fraction is truncated. This file does the same, so that queries return the same results. */
#ifndef SQL_TIMES_H
#define SQL_TIMES_H

#include "graph/trace.h"

struct times {
  int64_t base_ns, base_us;
  int32_t base_ps; /* 0 .. 999999 */
  bool exact;      /* true if times in the format are in ns, so that no doubles are needed */
  uint8_t thousands; /* not 0: times are doubles in a unit of 1000^thousands ns, which are multiplied and truncated to ns */
};

struct times times_of(const struct tk_trace *t);

enum { TIMES_US = 1000000 /* ps */ };

static inline int64_t times_floor(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Converts us + ps / 10^6 microseconds, 0 <= ps < 10^6, to ns. */
static inline int64_t times_ns(const struct times *c, int64_t us, int64_t ps) {
  if (ps == 0) return us * 1000;
  if (c->exact) return us * 1000 + (ps + 500) / 1000;
  const double ns = ((double)us + (double)ps / TIMES_US) * 1000, whole = 4503599627370496.0; /* from 2^52 on, all doubles are
                                                                                              * integers */
  if (ns >= whole || ns <= -whole) return (int64_t)ns;
  return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* Converts a time of a format with `thousands`. */
int64_t times_multiplied(const struct times *c, tk_time at);

/* True for a time in whole nanoseconds that does not change when converted to microseconds as a double; saves a division for
 * most times. */
static inline bool times_is_plain(int64_t ns) { return ns < (1ll << 49) && ns > -(1ll << 49); }

static inline int64_t times_at(const struct times *c, tk_time at) {
  const int64_t plain = at / 1000;
  if (c->thousands) return times_multiplied(c, at);
  if (plain * 1000 == at && times_is_plain(c->base_ns + plain)) return c->base_ns + plain;
  int64_t us = times_floor(at, TIMES_US), ps = at - us * TIMES_US + c->base_ps;
  if (ps >= TIMES_US) us++, ps -= TIMES_US;
  return times_ns(c, us + c->base_us, ps);
}

static inline int64_t times_dur(const struct times *c, const struct tk_event *e) {
  if (e->flags & TK_FLAG_UNFINISHED) return -1;
  const int64_t plain = e->dur / 1000;
  if (plain * 1000 == e->dur && !(e->flags & TK_FLAG_PAIRED) && times_is_plain(plain)) return plain;
  if (e->flags & TK_FLAG_PAIRED) return times_at(c, e->ts + e->dur) - times_at(c, e->ts);
  return times_ns(c, e->dur / TIMES_US, e->dur % TIMES_US);
}

#endif
