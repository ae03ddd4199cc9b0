/* nccl.h - describes the kernels of NCCL by the payloads of its NVTX ranges. */
#ifndef FORMAT_NSYS_READ_NCCL_H
#define FORMAT_NSYS_READ_NCCL_H

#include "reader.h"

/* Takes an NVTX event that may be a call of NCCL. */
void nccl_note(struct nsys *r, const struct tk_event *range);
/* Adds what the call of NCCL around a launch states to the args under construction of the kernel. `call`: the launch; 0 = unknown. */
void nccl_args(struct nsys *r, tk_id kernel_name, tk_id call);

#endif
