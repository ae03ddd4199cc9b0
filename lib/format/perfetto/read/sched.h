/* sched.h - the scheduler: which thread ran on each CPU, and the state of each thread. */
#ifndef FORMAT_PERFETTO_READ_SCHED_H
#define FORMAT_PERFETTO_READ_SCHED_H

#include "procs.h"

/* A CPU switches from one thread to another. The compact form does not contain the first one. */
struct sched_switch {
  uint32_t machine, cpu;
  int64_t ns, prev_tid, next_tid;
  bool has_prev;
  uint16_t prev_state; /* bits of the kernel, see state_text */
  tk_id next_name;
};

void sched_init(struct perfetto *r);
void sched_free(struct perfetto *r);

/* Return false if the scheduler was not asked for. Names of threads are taken in any case. */
bool sched_switch(struct perfetto *r, const struct sched_switch *s);
bool sched_waking(struct perfetto *r, uint32_t thread, int64_t ns);

/* Reads a SystemInfo: the bits of a state depend on the version of the kernel. */
void sched_kernel(struct perfetto *r, const struct pb_field *system_info);

/* Ends what runs at the end of the trace, and adds the states of threads. */
void sched_finish(struct perfetto *r);

#endif
