/* timeline.h - recognises the contents of packets that are also events of the graph. */
#ifndef FORMAT_PERFETTO_TIMELINE_H
#define FORMAT_PERFETTO_TIMELINE_H

#include "base/mem.h"
#include "format/pb.h"

/* True if the content in this field of a packet may contain data that is also in the graph. */
bool timeline_may(uint32_t packet_field);

/* True if the graph represents the whole content of a packet. `content`: a field of the packet. */
bool timeline_is(const struct pb_field *content);

/* Copies the part of the content that is not in the graph, without the field around it. `sched`: the graph also contains
 * scheduling. Returns false if there is no such part. */
bool timeline_rest(const struct pb_field *content, bool sched, struct buf *rest);

#endif
