/* track.h - reads TrackDescriptors, and the process and thread descriptors of older traces. */
#ifndef FORMAT_PERFETTO_READ_TRACK_H
#define FORMAT_PERFETTO_READ_TRACK_H

#include "reader.h"

/* Adds a node without a uuid. Returns 0 when memory runs out. */
uint32_t track_add_node(struct perfetto *r, struct node n);
uint32_t track_node_of_uuid(struct perfetto *r, struct sequence *q, uint32_t machine, uint64_t uuid);
uint32_t track_find_node(const struct perfetto *r, uint32_t machine, uint64_t uuid); /* 0 = not mentioned yet */

/* Return the node's parent, and the process to which its global events belong; the node itself if there is none. */
uint32_t track_node_parent(const struct perfetto *r, uint32_t node);
uint32_t track_node_process(const struct perfetto *r, uint32_t node);
uint32_t track_node_of_thread(struct perfetto *r, uint32_t machine, int64_t pid, int64_t tid);

/* Reads a TrackDescriptor. Returns its node, or 0 when memory runs out. *whole: whether the descriptor could be parsed to its
 * end. */
uint32_t track_descriptor(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f, bool *whole);
void track_old_process(struct perfetto *r, uint32_t machine, const struct pb_field *f);
void track_old_thread(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);

#endif
