/* work.h - the clock, devices and queues, flows. */
#ifndef FORMAT_ROCM_READ_WORK_H
#define FORMAT_ROCM_READ_WORK_H

#include "reader.h"

void work_init(struct rocm *r);
void work_free(struct rocm *r);

/* A time of the file in ps from the origin; false if the cell is no time, or out of range. The first time is the origin: a host
 * that runs for months is beyond the range of tk_time. */
bool work_time(struct rocm *r, const struct cell *c, tk_time *ts);
/* Fills in the times of a span. Returns false, with a note, if it has no usable start. */
bool work_span(struct rocm *r, const struct cell *start, const struct cell *end, struct tk_event *e);

/* Returns the process track of a GPU. */
tk_id work_device(struct rocm *r, int64_t number);
/* A queue of a GPU, called `name` ("queue 3" if 0) and used by a process. */
tk_id work_queue(struct rocm *r, uint64_t process, int64_t device, int64_t queue, tk_id name);

/* Adds a flow from one event to another. */
void work_link(struct rocm *r, tk_id from, tk_id to);

#endif
