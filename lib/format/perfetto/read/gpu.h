/* gpu.h - reads GpuRenderStageEvents and GpuUserAnnotationEvents: work of a GPU, and the parts of it that a program named. */
#ifndef FORMAT_PERFETTO_READ_GPU_H
#define FORMAT_PERFETTO_READ_GPU_H

#include "reader.h"

/* Reads the packet's GPU event. Returns false if it cannot be shown, so that the packet is only passed through. */
bool perfetto_gpu_stage(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Reads a GpuUserAnnotationEvent: a span on the queue that it names, or on a track of its own. */
bool gpu_annotation(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Returns the process of a GPU. */
tk_id gpu_process(struct perfetto *r, uint32_t machine, uint32_t number);
/* Sets the machines of all GPU processes. Call when all packets that may name machines have been read. */
void gpu_name_machines(struct perfetto *r);

#endif
