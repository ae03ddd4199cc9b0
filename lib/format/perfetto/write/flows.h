/* flows.h - the list of flows. */
#ifndef FORMAT_PERFETTO_WRITE_FLOWS_H
#define FORMAT_PERFETTO_WRITE_FLOWS_H

#include "writer.h"

/* Converts the graph's flow points to flows, each with a fresh id: *next_id and up, in steps of w->step. Returns the number of
 * dangling points. */
uint64_t flows_write_ends(struct event_writer *w, uint64_t *next_id);

#endif
