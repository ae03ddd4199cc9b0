/* host_time.h - divides the time of a rank's host into stretches by what the host did (enum host_class).
 *
 * Threads are added one after the other, with their spans in order of time; nested spans are converted to stretches. Then the threads
 * are merged in pairs. If threads have different classes at one time, stronger() chooses the class. */
#ifndef ANALYSIS_HOST_TIME_H
#define ANALYSIS_HOST_TIME_H

#include "graph/trace.h"
#include "host_names.h"

struct host_stretch {
  tk_time start, end;
  uint8_t class; /* enum host_class, not HOST_NOTHING */
};

/* A running span of the current thread. `class`: the highest class of the span and of the spans around it. */
struct host_open {
  tk_time end;
  uint8_t class;
};

struct host_thread {
  uint32_t first; /* index of the thread's first stretch */
  bool leads;     /* true if the thread contains the steps or launched work */
};

struct host_time {
  struct mem *mem;
  struct host_stretch *v; /* sorted by time within each thread; after host_time_merge, all stretches are sorted */
  struct host_thread *threads;
  struct host_open *open;
  uint32_t n, cap, n_threads, cap_threads, n_open, cap_open;
  tk_time now; /* end of the last stretch of the current thread */
};

/* Durations by enum host_class; HOST_NOTHING: time without recorded activity. */
struct host_sums {
  tk_time of[HOST_CLASSES];
};

bool host_time_begin(struct host_time *h);
/* Adds a span of the current thread. Sets *around to the class of the spans around it. Returns false if memory runs out. */
bool host_time_add(struct host_time *h, const struct tk_event *e, enum host_class class, enum host_class *around);
bool host_time_end(struct host_time *h, bool leads);
/* Merges all threads. If any thread leads, input, launches and blocking calls of threads that do not lead count as operators. */
bool host_time_merge(struct host_time *h);
void host_time_free(struct host_time *h);

/* Returns the first stretch that ends after `at`. */
uint32_t host_time_at(const struct host_time *h, tk_time at);
/* Adds the classes of the time within [start, end) to the sums. *from: index of a stretch from which to search; it must not be after
 * the first one that ends after `start`. The call updates it for the next range, if ranges are passed in order of time. */
void host_time_within(const struct host_time *h, uint32_t *from, tk_time start, tk_time end, struct host_sums *sums);

#endif
