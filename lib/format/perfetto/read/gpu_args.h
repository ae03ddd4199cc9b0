/* gpu_args.h - args of GpuRenderStageEvents. */
#ifndef FORMAT_PERFETTO_READ_GPU_ARGS_H
#define FORMAT_PERFETTO_READ_GPU_ARGS_H

#include "reader.h"

/* Returns the args of the packet's stage. */
uint32_t gpu_args_of(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Returns the args of the packet's annotation. */
uint32_t gpu_args_of_annotation(struct perfetto *r, struct sequence *q, const struct packet *k);

/* Returns the name of an interned kernel: the demangled name if the file contains it; 0 if the kernel has no name. */
tk_id gpu_args_kernel_name(struct perfetto *r, const struct sequence *q, uint64_t iid);

#endif
