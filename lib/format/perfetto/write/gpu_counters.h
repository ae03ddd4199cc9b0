/* gpu_counters.h - writes the counters of devices as GpuCounterEvents. */
#ifndef FORMAT_PERFETTO_WRITE_GPU_COUNTERS_H
#define FORMAT_PERFETTO_WRITE_GPU_COUNTERS_H

#include "writer.h"

/* Begin and end the samples of a counter track. */
void gpu_counters_begin(struct perfetto_sink *s, tk_id track);
void gpu_counters_end(struct perfetto_sink *s);

/* If the track belongs to a device, puts the GpuCounterEvent of a sample into s->w.counter. `uuid`: track of the series. */
void gpu_counters_sample(struct perfetto_sink *s, uint64_t uuid, tk_id series, const struct tk_arg *value);

#endif
