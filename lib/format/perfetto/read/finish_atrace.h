/* finish_atrace.h - pairs begin and end events that programs wrote to the kernel's trace_marker. */
#ifndef FORMAT_PERFETTO_READ_FINISH_ATRACE_H
#define FORMAT_PERFETTO_READ_FINISH_ATRACE_H

#include "reader.h"

/* Pairs begin and end events. Call when all times are in ns on the trace clock. */
void perfetto_finish_atrace(struct perfetto *r);

#endif
