/* lanes.h - lanes, and the stack of the current one. */
#ifndef FORMAT_PERFETTO_WRITE_LANES_H
#define FORMAT_PERFETTO_WRITE_LANES_H

#include "writer.h"

/* A heap contains the lanes with one name, by the time they become free. lanes_take returns a lane that is free at `ts` and
 * marks it busy until `end`; 0 if all are busy: then the caller makes a new lane and adds it with lanes_add. */
uint64_t lanes_take(struct heap *lanes, tk_time ts, tk_time end);
void lanes_add(struct heap *lanes, uint64_t uuid, tk_time end);

/* Push and pop spans on the stack of the current lane (lanes.c). A child ends no later than its parent. */
void lanes_open_slices(struct perfetto_sink *s, tk_id event);
void lanes_close_slices(struct perfetto_sink *s, uint32_t height);

#endif
