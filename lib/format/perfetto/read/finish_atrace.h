/* finish_atrace.h - pairs begins and ends that programs wrote to the kernel's trace_marker. */
#ifndef FORMAT_PERFETTO_READ_FINISH_ATRACE_H
#define FORMAT_PERFETTO_READ_FINISH_ATRACE_H

#include "reader.h"

/* Call when all times are on the trace clock, in ns. */
void perfetto_finish_atrace(struct perfetto *r);

#endif
