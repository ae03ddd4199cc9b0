/* spent.h - how a device spent its time: stretches in which the same classes of work ran, and what it waited for between. */
#ifndef ANALYSIS_SPENT_H
#define ANALYSIS_SPENT_H

#include "work.h"

/* What an idle stretch waited for, as HolisticTraceAnalysis tells it: the host, if the next work was launched only after the stretch
 * had begun; else the device itself, if the stretch is shorter than 30 us; else something else. */
enum spent_wait { WAIT_HOST, WAIT_KERNEL, WAIT_OTHER };

struct stretch {
  tk_time start, end;
  uint8_t classes; /* enum work_class; 0 = idle */
  uint8_t wait;
};

struct spent {
  struct mem *mem;
  struct stretch *v; /* in order, without gaps, from the first work to the end of the last */
  uint32_t n, cap;
};

enum spent_wait spent_wait(tk_time from, tk_time to, const struct tk_trace *t, tk_id launch);

/* Of work in the order of starts, which has `n` >= 1 elements.  `room` is for n times. */
bool spent_find(struct spent *s, const struct work *v, uint32_t n, const struct tk_trace *t, struct mem *mem);
void spent_free(struct spent *s);

/* What was spent on in [start, end).  Before the first work and behind the last one the device is idle, and waits for the host. */
struct tk_device_times spent_in(const struct spent *s, tk_time start, tk_time end);

#endif
