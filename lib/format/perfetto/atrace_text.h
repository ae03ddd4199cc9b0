/* atrace_text.h - parses text that programs write to the kernel's trace_marker: "B|1636|name". */
#ifndef FORMAT_PERFETTO_ATRACE_TEXT_H
#define FORMAT_PERFETTO_ATRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Returns false if the text does not describe an event. */
bool atrace_text(struct atrace_text *e, const uint8_t *p, size_t n);

#endif
