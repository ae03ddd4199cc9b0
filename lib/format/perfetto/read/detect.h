/* detect.h - recognises a Trace. */
#ifndef FORMAT_PERFETTO_READ_DETECT_H
#define FORMAT_PERFETTO_READ_DETECT_H

#include "format/perfetto/perfetto.h"
#include "frames.h"
#include "reader.h"

/* Returns how many bits of structure the first bytes of a file match. */
unsigned perfetto_bid(const uint8_t *p, size_t n);

/* True if a sequence of packets begins at p. `last`: the input ends after these bytes. Adds the number of bytes examined to
 * *cost. */
bool perfetto_frames_at(const uint8_t *p, size_t n, bool last, size_t *cost);

/* True if the bytes parse as a packet with at least this many known fields. */
bool perfetto_is_packet(const uint8_t *p, size_t n, unsigned known);

#endif
