/* procs.h - processes, threads and counters that packets of the system name by their numbers. */
#ifndef FORMAT_PERFETTO_READ_PROCS_H
#define FORMAT_PERFETTO_READ_PROCS_H

#include "reader.h"

enum { PROC_UNKNOWN = -1 }; /* pid of a thread whose process is not known */

void procs_init(struct perfetto *r);
void procs_free(struct perfetto *r);

/* Return a node, adding it if it is new; 0 when memory runs out. A thread whose process differs from the last known one is a new
 * thread: the kernel reuses numbers. */
uint32_t proc_process(struct perfetto *r, uint32_t machine, int64_t pid);
uint32_t proc_thread(struct perfetto *r, uint32_t machine, int64_t tid, int64_t pid);
/* Returns the last known thread with this number, or 0. */
uint32_t proc_find_thread(const struct perfetto *r, uint32_t machine, int64_t tid);
/* `process`: a node, 0 = none. */
uint32_t proc_counter(struct perfetto *r, uint32_t machine, uint32_t process, tk_id name, tk_id unit);

/* A name from a process tree outranks one from the scheduler, as in trace_processor; otherwise the last one counts. */
enum proc_source { PROC_BY_SCHEDULER = 1, PROC_BY_TREE };
void proc_name(struct perfetto *r, uint32_t node, tk_id name, enum proc_source source);

/* A time of a packet: ns on the trace clock, or on the clock with index `pending` if that is not 0. */
struct proc_time {
  int64_t ns;
  uint32_t pending;
};

/* Returns false if the packet has no time. */
bool proc_packet_time(struct perfetto *r, struct sequence *q, const struct packet *k, struct proc_time *at);

/* Adds an event at this aspect of the node. */
struct tk_event *proc_event(struct perfetto *r, uint32_t node, enum aspect aspect, struct proc_time at);
void proc_sample(struct perfetto *r, uint32_t counter, struct proc_time at, int64_t value);

#endif
