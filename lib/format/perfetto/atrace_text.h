/* atrace_text.h - parses text that programs write to the kernel's trace_marker, "B|1636|name", and events of display drivers that have
 * the same meaning. */
#ifndef FORMAT_PERFETTO_ATRACE_TEXT_H
#define FORMAT_PERFETTO_ATRACE_TEXT_H

#include "format/pb.h"

enum { ATRACE_NO_PID = -1 };

struct atrace_part {
  const uint8_t *p;
  size_t n;
};

struct atrace_text {
  char phase;
  int64_t pid, value;             /* value: value of a counter, or cookie of an async span */
  struct atrace_part name, track; /* track: only for the phases G, H and N */
};

/* Parses a string into *e. Returns false if it does not describe an event. */
bool atrace_text(struct atrace_text *e, const uint8_t *p, size_t n);

/* True if the FtraceEvent field with this number is an event of a display driver. */
bool atrace_is_mark(uint32_t number);
/* Reads a driver's event. Returns false if its fields do not describe an event. */
bool atrace_mark(struct atrace_text *e, const struct pb_field *content);

#endif
