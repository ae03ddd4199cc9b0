/* sched.h - reads scheduling: which thread ran on each CPU, and the state of each thread. */
#ifndef FORMAT_PERFETTO_READ_SCHED_H
#define FORMAT_PERFETTO_READ_SCHED_H

#include "procs.h"

/* A switch of a CPU from one thread to another. In the compact form, the previous thread is missing. */
struct sched_switch {
  uint32_t machine, cpu;
  int64_t ns, prev_tid, next_tid;
  bool has_prev;
  uint16_t prev_state; /* bits that the kernel defines; see state_of (sched.c) */
  tk_id next_name;
};

void sched_init(struct perfetto *r);
void sched_free(struct perfetto *r);

/* Handle a switch or a waking. Return false if scheduling was not requested; the names of threads are used in any case. */
bool sched_switch(struct perfetto *r, const struct sched_switch *s);
bool sched_waking(struct perfetto *r, uint32_t thread, int64_t ns);

/* Reads the kernel's version from a SystemInfo, because the bits of a state depend on it. */
void sched_kernel(struct perfetto *r, const struct pb_field *system_info);

/* Ends the spans that are open at the end of the trace, and adds the states of threads. */
void sched_finish(struct perfetto *r);

#endif
