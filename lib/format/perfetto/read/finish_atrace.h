/* finish_atrace.h - pairs begins and ends that programs wrote to the kernel's trace_marker. */
#ifndef FORMAT_PERFETTO_READ_FINISH_ATRACE_H
#define FORMAT_PERFETTO_READ_FINISH_ATRACE_H

#include "reader.h"

/* Pairs begins and ends. Call when all times are in ns on the trace clock. */
void perfetto_finish_atrace(struct perfetto *r);

#endif
