/* part.h - reduces a loaded input to one of its ranks. */
#ifndef LOAD_PART_H
#define LOAD_PART_H

#include "format/parts.h"
#include "graph/trace.h"

/* Removes the tracks of all ranks but number `at`. The first rank keeps the tracks that belong to none, such as a launcher or the
 * metrics of a device, so that every event belongs to exactly one rank. Returns false with err on failure. */
bool load_part(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err);

#endif
