/* devices.h - turns the history of each device into counters, spans and instants. */
#ifndef FORMAT_TORCH_MEMORY_READ_DEVICES_H
#define FORMAT_TORCH_MEMORY_READ_DEVICES_H

#include "snapshot.h"

/* Adds everything in the snapshot to its trace. `first_us`: the earliest time, which becomes the origin. */
void devices_add(const struct snapshot *s, const struct pickle_value *root, int64_t first_us);

#endif
