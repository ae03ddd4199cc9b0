/* ftrace.h - reads an FtraceEventBundle: events of the kernel on one CPU. */
#ifndef FORMAT_PERFETTO_READ_FTRACE_H
#define FORMAT_PERFETTO_READ_FTRACE_H

#include "reader.h"

/* Reads events that can be shown on a timeline: text of programs, counters of CPUs, names, and scheduling if requested. A note
 * reports the number of other events. */
void perfetto_ftrace(struct perfetto *r, const struct packet *k);

#endif
