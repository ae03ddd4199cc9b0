/* work.h - adds devices and queues. */
#ifndef FORMAT_ROCM_READ_WORK_H
#define FORMAT_ROCM_READ_WORK_H

#include "reader.h"

void work_init(struct rocm *r);
void work_free(struct rocm *r);

/* Returns the process track of a GPU, adding it if necessary. */
tk_id work_device(struct rocm *r, int64_t number);
/* Returns the track of a queue that a process uses on a GPU, adding it if necessary. `name`: 0 = a name such as "queue 3". */
tk_id work_queue(struct rocm *r, uint64_t process, int64_t device, int64_t queue, tk_id name);

#endif
