/* gpu_memory.h - recognises the stages of a GPU that copy or fill memory. */
#ifndef FORMAT_PERFETTO_READ_GPU_MEMORY_H
#define FORMAT_PERFETTO_READ_GPU_MEMORY_H

#include "format/pb.h"

enum gpu_memory { GPU_COMPUTES, GPU_COPIES, GPU_FILLS };

/* Returns the kind of a stage by its interned specification. */
enum gpu_memory gpu_memory_of(const struct pb_field *specification);

#endif
