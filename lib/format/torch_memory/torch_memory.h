/* torch_memory.h - row of PyTorch's memory snapshots. */
#ifndef FORMAT_TORCH_MEMORY_TORCH_MEMORY_H
#define FORMAT_TORCH_MEMORY_TORCH_MEMORY_H

#include "format/format.h"

#endif
