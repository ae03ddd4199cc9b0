/* system.h - reads data about the system: names of processes, and counters. */
#ifndef FORMAT_PERFETTO_READ_SYSTEM_H
#define FORMAT_PERFETTO_READ_SYSTEM_H

#include "procs.h"

void system_tree(struct perfetto *r, const struct packet *k);
/* Adds a sample for each counter of the packet. Returns false if its time is unknown. */
bool system_stats(struct perfetto *r, struct sequence *q, const struct packet *k);
/* Adds a sample of a counter that exists for each CPU. */
void system_cpu_sample(struct perfetto *r, uint32_t machine, const char *name, uint32_t cpu, struct proc_time at, int64_t value);

#endif
