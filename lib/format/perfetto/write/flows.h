/* flows.h - lists the flows of a graph. */
#ifndef FORMAT_PERFETTO_WRITE_FLOWS_H
#define FORMAT_PERFETTO_WRITE_FLOWS_H

#include "writer.h"

/* Converts the graph's flow points to flows. Each flow gets a new id, from *next_id on, in steps of w->step. Returns the number
 * of points that are lost because their other end is missing. */
uint64_t flows_write_ends(struct event_writer *w, uint64_t *next_id);

#endif
