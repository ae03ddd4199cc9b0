/* counters.h - writes counter samples. Each series of a counter has a track, which is described before the first sample. */
#ifndef FORMAT_PERFETTO_WRITE_COUNTERS_H
#define FORMAT_PERFETTO_WRITE_COUNTERS_H

#include "writer.h"

/* Writes the samples of a counter track. */
void counters_write(struct perfetto_sink *s, tk_id track);

/* Returns the uuid of a counter with one series; describes the counter if that was not done yet. */
uint64_t counters_uuid(struct perfetto_sink *s, tk_id track);

#endif
