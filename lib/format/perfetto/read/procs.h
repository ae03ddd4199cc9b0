/* procs.h - adds processes, threads and counters to which packets of the system refer by number. */
#ifndef FORMAT_PERFETTO_READ_PROCS_H
#define FORMAT_PERFETTO_READ_PROCS_H

#include "reader.h"

enum { PROC_UNKNOWN = -1 }; /* pid of a thread whose process is unknown */

void procs_init(struct perfetto *r);
void procs_free(struct perfetto *r);

/* Return a node, adding it if necessary; 0 when memory runs out. If the process of a thread differs from the last known one,
 * the thread is a new one, because the kernel reuses thread ids. */
uint32_t proc_process(struct perfetto *r, uint32_t machine, int64_t pid);
uint32_t proc_thread(struct perfetto *r, uint32_t machine, int64_t tid, int64_t pid);
/* Returns the thread with this number that was used last; 0 if there is none. */
uint32_t proc_find_thread(const struct perfetto *r, uint32_t machine, int64_t tid);
/* Returns the node of a counter, adding it if necessary. `process`: a node; 0 = none. */
uint32_t proc_counter(struct perfetto *r, uint32_t machine, uint32_t process, tk_id name, tk_id unit);

/* Sources of names. A name from a process tree has priority over one from the scheduler, as in trace_processor; among names
 * from the same source, the last one counts. */
enum proc_source { PROC_BY_SCHEDULER = 1, PROC_BY_TREE };
void proc_name(struct perfetto *r, uint32_t node, tk_id name, enum proc_source source);

/* Time of a packet: ns on the trace clock; if `pending` is not 0, ns on the clock with this index. */
struct proc_time {
  int64_t ns;
  uint32_t pending;
};

/* Finds the time of a packet; returns false if it has none. */
bool proc_packet_time(struct perfetto *r, struct sequence *q, const struct packet *k, struct proc_time *at);

/* Adds an event on the given aspect of the node. */
struct tk_event *proc_event(struct perfetto *r, uint32_t node, enum aspect aspect, struct proc_time at);
void proc_sample(struct perfetto *r, uint32_t counter, struct proc_time at, int64_t value);

#endif
