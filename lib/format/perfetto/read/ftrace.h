/* ftrace.h - FtraceEventBundle: events of the kernel on one CPU. */
#ifndef FORMAT_PERFETTO_READ_FTRACE_H
#define FORMAT_PERFETTO_READ_FTRACE_H

#include "reader.h"

/* Reads the events that are a timeline: text of programs, counters of CPUs, names, and the scheduler if that was asked for. Counts the
 * others in a note. */
void perfetto_ftrace(struct perfetto *r, const struct packet *k);

#endif
