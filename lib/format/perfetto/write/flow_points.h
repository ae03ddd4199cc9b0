/* flow_points.h - writes the flows of an event: their ids, and the other properties of flow points. */
#ifndef FORMAT_PERFETTO_WRITE_FLOW_POINTS_H
#define FORMAT_PERFETTO_WRITE_FLOW_POINTS_H

#include "writer.h"

/* Writes a flow point that does not belong to a span, which only our reader uses. */
void flow_points_lone(struct event_writer *w, uint64_t uuid, tk_id flow);

/* Appends the flows of the event's begin or end packet to w->event and w->private_fields. */
void flow_points_write(struct event_writer *w, tk_id event, bool at_end);

#endif
