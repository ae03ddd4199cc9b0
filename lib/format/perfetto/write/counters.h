/* counters.h - counter samples: a track for each series of a counter, made when its first sample comes. */
#ifndef FORMAT_PERFETTO_WRITE_COUNTERS_H
#define FORMAT_PERFETTO_WRITE_COUNTERS_H

#include "writer.h"

/* Writes the samples of a counter track (counters.c). */
void counters_write(struct perfetto_sink *s, tk_id track);

#endif
