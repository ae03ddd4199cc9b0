/* nccl.h - describes the kernels of NCCL by the payloads of its NVTX ranges. */
#ifndef FORMAT_NSYS_READ_NCCL_H
#define FORMAT_NSYS_READ_NCCL_H

#include "reader.h"

/* Records the message size and communicator of an NVTX event if it is a call of NCCL. */
void nccl_note(struct nsys *r, const struct tk_event *range);
/* Adds the size and group of the NCCL call around a launch to the args under construction of the kernel. `call`: the launch, 0
 * if unknown. */
void nccl_args(struct nsys *r, tk_id kernel_name, tk_id call);

#endif
