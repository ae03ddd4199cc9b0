/* timeline.h - the contents of packets that the graph represents as events, too. */
#ifndef FORMAT_PERFETTO_TIMELINE_H
#define FORMAT_PERFETTO_TIMELINE_H

#include "base/mem.h"
#include "format/pb.h"

/* True if content in this field of a packet may have a part that the graph represents. */
bool timeline_may(uint32_t packet_field);

/* True if the graph represents all of the content of a packet, which is one of its fields. */
bool timeline_is(const struct pb_field *content);

/* Copies the rest of the content, without the field around it. `sched`: the graph also has the scheduler. Returns false if there is no
 * rest. */
bool timeline_rest(const struct pb_field *content, bool sched, struct buf *rest);

#endif
