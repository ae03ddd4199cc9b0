/* chunks.h - reads packets with several threads (format/chunks.h). The meaning of a packet depends on all earlier packets
 * of its sequence: names, defaults, incremental times, open spans. */
#ifndef FORMAT_PERFETTO_READ_CHUNKS_H
#define FORMAT_PERFETTO_READ_CHUNKS_H

#include "reader.h"

/* Starts reading packets with several threads. Sets r->chunks, or leaves it NULL for one thread. Returns false when memory runs
 * out. */
bool perfetto_chunks_start(struct perfetto *r);
bool perfetto_chunks_are_due(const struct perfetto *r, const struct pb_in *s);

/* Reads packets with several threads. Afterwards, the caller continues at *s; if *compressed is set, the caller reads the
 * contents of this packet first. */
bool perfetto_chunks_read(struct perfetto *r, struct pb_in *s, struct pb_field *compressed);

#endif
