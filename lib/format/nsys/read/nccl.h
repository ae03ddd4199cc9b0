/* nccl.h - describes the kernels of NCCL by the payloads of its NVTX ranges. */
#ifndef FORMAT_NSYS_READ_NCCL_H
#define FORMAT_NSYS_READ_NCCL_H

#include "reader.h"

/* Records the message size and communicator of an NVTX event if it is a call of NCCL. */
void nccl_note(struct nsys *r, const struct tk_event *range);
/* True if any group of calls is known well enough to describe its kernel. To be called when all events of NVTX are recorded. */
bool nccl_has_groups(struct nsys *r);
/* Counts a kernel for the group that launched it. To be called for all kernels before nccl_args, if there are groups. */
void nccl_count(struct nsys *r, tk_id kernel_name, tk_id call);
/* Adds the size and group of the NCCL call around a launch to the args under construction of the kernel. `call`: the launch, 0
 * if unknown. */
void nccl_args(struct nsys *r, tk_id kernel_name, tk_id call);

#endif
