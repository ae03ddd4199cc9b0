/* gpu.h - writes the work of devices as GpuRenderStageEvents. */
#ifndef FORMAT_PERFETTO_WRITE_GPU_H
#define FORMAT_PERFETTO_WRITE_GPU_H

#include "writer.h"

/* Finds the devices of the graph and the kinds of their events. Returns false when memory runs out. gpu_end frees them. */
bool gpu_begin(struct perfetto_sink *s);
void gpu_end(struct perfetto_sink *s);

/* True if the spans of the track are written as stages, that is, if it is a queue of a device and stages can represent all its
 * spans. */
bool gpu_takes(const struct perfetto_sink *s, tk_id track);
/* Returns the number of the track's device; -1 if it is unknown or invalid. */
int64_t gpu_device_of(const struct tk_trace *t, tk_id track);
/* Writes the spans and instants of a track that gpu_takes accepts. */
void gpu_write(struct perfetto_sink *s, tk_id track);

#endif
