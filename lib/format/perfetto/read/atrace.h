/* atrace.h - reads text that programs write to the kernel's trace_marker: "B|1636|name". */
#ifndef FORMAT_PERFETTO_READ_ATRACE_H
#define FORMAT_PERFETTO_READ_ATRACE_H

#include "format/perfetto/atrace_text.h"
#include "procs.h"

/* An ftrace event: its time, its machine and its thread. */
struct atrace_at {
  struct proc_time time;
  uint32_t machine;
  int64_t tid;
};

/* Adds an event. Returns false if it is an end event whose thread is unknown. */
bool atrace_add(struct perfetto *r, const struct atrace_at *at, const struct atrace_text *e);
/* Adds the event that the text describes. Returns false if the text does not describe one. */
bool atrace_read(struct perfetto *r, const struct atrace_at *at, const uint8_t *p, size_t n);

#endif
