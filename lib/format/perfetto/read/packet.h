/* packet.h - one TracePacket: first its changes to the sequence state, then its contents. */
#ifndef FORMAT_PERFETTO_READ_PACKET_H
#define FORMAT_PERFETTO_READ_PACKET_H

#include "reader.h"

/* Processes a decoded packet, or reads it field by field if it was not decoded. Otherwise like perfetto_packet. */
bool perfetto_take_packet(struct perfetto *r, const struct decoded *d, struct pb_field *compressed);

/* Processes one packet. A compressed packet is returned in *compressed for the caller to read. Returns false, with no effect,
 * if the packet cannot be parsed to its end. */
bool perfetto_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);

/* Processes such a damaged packet as far as possible. */
void perfetto_damaged_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);

/* To be called at the end of the file: reads packets of sequences whose state was never set. */
void perfetto_read_deferred(struct perfetto *r);

#endif
