/* prune_packets.h - drops parts of passthrough packets, while reading, that no longer apply at the start of a later cut. */
#ifndef FORMAT_PERFETTO_READ_PRUNE_PACKETS_H
#define FORMAT_PERFETTO_READ_PRUNE_PACKETS_H

#include "reader.h"

/* Schedules the first pass; must be called before the first packet is read. */
void prune_packets_start(struct perfetto *r);
/* Drops parts of packets. Must be called between packets. */
void prune_packets(struct perfetto *r);
static inline void prune_packets_if_due(struct perfetto *r) {
  if (r->t->store->raw.len >= r->packet_prune.next) prune_packets(r);
}
/* Called at the end of the file. Sets trace_early.failed if a later event shows that an event should have been kept. */
void prune_packets_check(struct perfetto *r);

#endif
