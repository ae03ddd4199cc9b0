/* gpu_own.h - reads GPU events of our writer (write/gpu.c, gpu_counters.c). */
#ifndef FORMAT_PERFETTO_READ_GPU_OWN_H
#define FORMAT_PERFETTO_READ_GPU_OWN_H

#include "reader.h"

/* If the packet is a stage or a counter sample of our writer, moves its content to k->stage. */
void gpu_own_claim(struct packet *k);
void gpu_own_read(struct perfetto *r, struct sequence *q, const struct packet *k);

#endif
