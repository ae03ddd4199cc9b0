/* flow_points.h - flows of an event: their ids, and complete flow points. */
#ifndef FORMAT_PERFETTO_WRITE_FLOW_POINTS_H
#define FORMAT_PERFETTO_WRITE_FLOW_POINTS_H

#include "writer.h"

/* Writes a flow point that belongs to no span; only our reader uses it. */
void flow_points_lone(struct event_writer *w, uint64_t uuid, tk_id flow);

/* Appends the flows of the event to w->event and w->private_fields: the flows of its begin, or of its end. */
void flow_points_write(struct event_writer *w, tk_id event, bool at_end);

#endif
