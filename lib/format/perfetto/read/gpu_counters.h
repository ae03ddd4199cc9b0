/* gpu_counters.h - reads GPU counters, GPU memory, and submissions of work to GPUs. */
#ifndef FORMAT_PERFETTO_READ_GPU_COUNTERS_H
#define FORMAT_PERFETTO_READ_GPU_COUNTERS_H

#include "reader.h"

/* Read the content of the packet. Return false if it has no time, or nothing that can be shown. */
bool gpu_counters_read(struct perfetto *r, struct sequence *q, const struct packet *k);
bool gpu_memory_read(struct perfetto *r, struct sequence *q, const struct packet *k);
bool gpu_submit_read(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Reads the descriptors of counters in the packet's interned data. */
void gpu_counters_intern(struct perfetto *r, const struct sequence *q, const struct packet *k);

#endif
