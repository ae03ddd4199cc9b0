/* part.h - reduces a loaded input to one of its ranks. */
#ifndef LOAD_PART_H
#define LOAD_PART_H

#include "format/parts.h"
#include "graph/trace.h"

/* Removes the tracks of all ranks but number `at`. The first rank also keeps the tracks that belong to no rank, such as
 * those of a launcher or the metrics of a device, so that every event belongs to exactly one rank. Returns false with err on
 * failure. */
bool load_part(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err);

/* Returns rank number `at` as a separate trace, equal to the result of load_part. Does not change `t`. NULL with err on failure. */
struct tk_trace *load_part_copy(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err);

/* Records the ranks of all processes of a trace that was read as a whole. Ranks that the file does not state are numbered in
 * the order of the parts. As in load_part, the first rank gets the tracks that belong to no rank. */
void load_ranks_within(struct tk_trace *t, const struct parts *parts);

#endif
