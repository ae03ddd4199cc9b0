/* lanes.h - assigns lanes, and keeps the stack of the current lane. */
#ifndef FORMAT_PERFETTO_WRITE_LANES_H
#define FORMAT_PERFETTO_WRITE_LANES_H

#include "writer.h"

/* A heap contains the lanes of one name, by the time at which they become free. lanes_take returns a lane that is free at `ts`
 * and reserves it until `end`. If no lane is free, it returns 0; the caller then creates a lane and adds it with lanes_add. */
uint64_t lanes_take(struct heap *lanes, tk_time ts, tk_time end);
void lanes_add(struct heap *lanes, uint64_t uuid, tk_time end);

/* Push and pop spans on the stack of the current lane, and write their packets. A child ends no later than its parent. */
void lanes_open_slices(struct event_writer *w, struct open_spans *stack, tk_id event);
void lanes_close_slices(struct event_writer *w, struct open_spans *stack, uint32_t height);
/* Pushes a span without writing it. */
void lanes_push(const struct event_writer *w, struct open_spans *stack, tk_id event);

#endif
