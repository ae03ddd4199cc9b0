/* packet.h - processes a TracePacket: first its changes to the sequence state, then its contents. */
#ifndef FORMAT_PERFETTO_READ_PACKET_H
#define FORMAT_PERFETTO_READ_PACKET_H

#include "reader.h"

/* Processes the packet in `d` like perfetto_packet; faster if d->is_event, because the packet is decoded already. */
bool perfetto_take_packet(struct perfetto *r, const struct decoded *d, struct pb_field *compressed);

/* Processes a packet. Sets *compressed to a compressed packet, whose contents the caller must read. Returns false, without any
 * effect, if the packet cannot be parsed to its end. */
bool perfetto_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);

/* Processes a packet that cannot be parsed to its end, as far as possible. */
void perfetto_damaged_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);

/* Called at the end of the file: reads packets of sequences whose state was never set. */
void perfetto_read_deferred(struct perfetto *r);

#endif
