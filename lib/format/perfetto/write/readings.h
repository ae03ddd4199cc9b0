/* readings.h - converts times in packets to the trace clock. */
#ifndef FORMAT_PERFETTO_WRITE_READINGS_H
#define FORMAT_PERFETTO_WRITE_READINGS_H

#include "base/map.h"
#include "format/perfetto/passthrough.h"
#include "graph/trace.h"

struct readings {
  struct clock_readings head;
  const char *of;    /* array of struct clock_reading, unaligned */
  struct map clocks; /* machine << 32 | clock -> 1 + its first reading */
};

void readings_begin(struct readings *r, const struct tk_trace *t, struct mem *mem);
void readings_end(struct readings *r);
/* Converts a time to the trace clock by the last reading before it, as the reader does. Clock 0 is the trace clock. Returns false,
 * with the time unchanged in *ns, if the clock has no readings. */
bool readings_to_trace(const struct readings *r, uint32_t machine, uint32_t clock, uint64_t time, int64_t *ns);

#endif
