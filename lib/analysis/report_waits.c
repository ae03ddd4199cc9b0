/* report_waits.c - finds the idle time of a device that a wait of its host caused (report.h).
 *
 * A host that waits for the device launches nothing. When the device has done all its work, it becomes idle, and stays so until the
 * host has returned from the call and launched more. A call during which the device has enough work causes no idle time. */
#include "report.h"

/* By the clocks of the trace, a call may return this long before the work for which it waited ends. */
static const tk_time AFTER = 30000000; /* ps */

/* True if the host was in a call that waits for the device when the device became idle. */
static bool begins_in_wait(const struct host_time *h, tk_time at) {
  bool waits = false;
  for (uint32_t i = host_time_at(h, at - AFTER); !waits && i < h->n && h->v[i].start <= at; i++) waits = h->v[i].class == HOST_SYNC;
  return waits;
}

/* Returns the index of the stretch with which the idle time of stretch i begins. */
static uint32_t first_idle(const struct spent *s, uint32_t i) {
  while (i && !s->v[i - 1].classes) i--;
  return i;
}

/* Returns the idle time within [start, end) that such a call caused, except time in which the host loaded input or compiled: the device
 * would have waited for these in any case. */
static tk_time caused_within(const struct reporter *p, uint32_t group, tk_time start, tk_time end) {
  const struct host_time *host = &p->index.hosts[group].time;
  const struct spent *s = &p->spent;
  tk_time sum = 0;
  for (uint32_t i = spent_at(s, start); i < s->n && s->v[i].start < end; i++) {
    const tk_time from = s->v[i].start > start ? s->v[i].start : start, to = s->v[i].end < end ? s->v[i].end : end;
    struct host_sums sums = {{0}};
    uint32_t at = host_time_at(host, from);
    if (s->v[i].classes || !begins_in_wait(host, s->v[first_idle(s, i)].start)) continue;
    host_time_within(host, &at, from, to, &sums);
    sum += to - from - sums.of[HOST_INPUT] - sums.of[HOST_COMPILE];
  }
  return sum;
}

tk_time report_idle_after_waits(const struct reporter *p, const struct tk_report_rank *row, uint32_t group) {
  return report_sum_of_range(p, row, group, caused_within);
}
