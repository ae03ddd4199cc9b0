/* spent.h - divides the time of a device into stretches. Within a stretch, the set of classes of running work does not change. Each
 * idle stretch has a cause. */
#ifndef ANALYSIS_SPENT_H
#define ANALYSIS_SPENT_H

#include "work.h"

/* Cause of an idle stretch, defined as in HolisticTraceAnalysis: WAIT_HOST if the next work was launched after the stretch began;
 * otherwise WAIT_KERNEL if the stretch is shorter than 30 us; otherwise WAIT_OTHER or, if the launch of the next work is unknown,
 * WAIT_UNKNOWN. WAIT_UNKNOWN counts as other. */
enum spent_wait { WAIT_HOST, WAIT_KERNEL, WAIT_OTHER, WAIT_UNKNOWN };

struct stretch {
  tk_time start, end;
  tk_time ready;   /* if idle: end of the call that launched the next work; INT64_MAX = unknown */
  uint8_t classes; /* set of enum work_class; 0 = idle */
  uint8_t wait;
};

struct spent {
  struct mem *mem;
  struct stretch *v; /* in order and without gaps, from the start of the first work to the end of the last work */
  uint32_t n, cap;
};

enum spent_wait spent_wait(tk_time from, tk_time to, const struct tk_trace *t, tk_id launch);

/* Computes the stretches of a device from n >= 1 pieces of work, sorted by start. Returns false if memory runs out. */
bool spent_find(struct spent *s, const struct work *v, uint32_t n, const struct tk_trace *t, struct mem *mem);
void spent_free(struct spent *s);

/* Returns the index of the first stretch that ends after `at`; s->n if there is none. */
uint32_t spent_at(const struct spent *s, tk_time at);

/* Returns the idle time within [start, end) during which the next work was already launched. Counts only waits of at least 30 us. */
tk_time spent_queued(const struct spent *s, tk_time start, tk_time end);

/* Returns the times of the device within [start, end). Before its first work and after its last work, the device counts as idle and
 * waiting for the host. */
struct tk_device_times spent_in(const struct spent *s, tk_time start, tk_time end);

#endif
