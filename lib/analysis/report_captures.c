/* report_captures.c - finds the idle time of a device during which the host recorded a CUDA or HIP graph (report.h).
 *
 * Calls that are recorded into a graph launch nothing, so the device is idle by design. This happens once per graph, not in
 * every step. */
#include "report.h"

#include "op/captured.h"

static struct host_time *captures_of(struct reporter *p, const struct captured_range *range) {
  struct host_time *h = &p->index.hosts[p->index.group_of[range->track]].captures;
  h->mem = p->mem;
  return h;
}

/* Adds the ranges of one thread, the first n. */
static bool add_thread(struct reporter *p, const struct captured_range *v, uint32_t n) {
  struct host_time *h = captures_of(p, v);
  enum host_class around;
  bool ok = host_time_begin(h);
  for (uint32_t i = 0; ok && i < n; i++) {
    const struct tk_event span = {.ts = v[i].start, .dur = v[i].end - v[i].start};
    ok = host_time_add(h, &span, HOST_LAUNCH, &around);
  }
  return ok && host_time_end(h, true);
}

bool report_captures_find(struct reporter *p) {
  struct captured_ranges ranges;
  bool ok = captured_ranges_find(&p->match.kinds, p->mem, &ranges);
  for (uint32_t i = 0, n; ok && i < ranges.n; i += n) {
    for (n = 1; i + n < ranges.n && ranges.v[i + n].track == ranges.v[i].track;) n++;
    ok = add_thread(p, ranges.v + i, n);
  }
  for (uint32_t i = 0; ok && ranges.n && i < p->index.n_groups; i++)
    if (p->index.hosts[i].captures.mem) ok = host_time_merge(&p->index.hosts[i].captures);
  mem_free(p->mem, ranges.v);
  return ok;
}

static tk_time captured_within(const struct reporter *p, uint32_t group, tk_time start, tk_time end) {
  struct host_sums sums = {{0}};
  report_idle_sums(p, &p->index.hosts[group].captures, start, end, &sums);
  return sums.of[HOST_LAUNCH];
}

tk_time report_capturing(const struct reporter *p, const struct tk_report_rank *row, uint32_t group) {
  return p->index.hosts[group].captures.n ? report_sum_of_range(p, row, group, captured_within) : 0;
}
