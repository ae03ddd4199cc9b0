/* work.h - devices and queues. */
#ifndef FORMAT_ROCM_READ_WORK_H
#define FORMAT_ROCM_READ_WORK_H

#include "reader.h"

void work_init(struct rocm *r);
void work_free(struct rocm *r);

/* Returns the process track of a GPU. */
tk_id work_device(struct rocm *r, int64_t number);
/* A queue of a GPU, called `name` ("queue 3" if 0) and used by a process. */
tk_id work_queue(struct rocm *r, uint64_t process, int64_t device, int64_t queue, tk_id name);

#endif
