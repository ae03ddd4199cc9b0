/* samples.h - writes stack samples as PerfSample packets. */
#ifndef FORMAT_PERFETTO_WRITE_SAMPLES_H
#define FORMAT_PERFETTO_WRITE_SAMPLES_H

#include "writer.h"

/* Writes the samples of a track. */
void perfetto_samples_write(struct perfetto_sink *s, tk_id track);

#endif
