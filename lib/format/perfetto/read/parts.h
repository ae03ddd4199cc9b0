/* parts.h - joins the parts of a trace that was cut in time (split), when they are read one after the other. */
#ifndef FORMAT_PERFETTO_READ_PARTS_H
#define FORMAT_PERFETTO_READ_PARTS_H

#include "reader.h"

/* Reads the range of a part, which precedes its packets (TRACEKIT_PART). */
void parts_begin(struct perfetto *r, const struct pb_field *range);

/* Removes what an earlier part contains from the packet. Changes *p and *n to the rest. Returns false if nothing is left. */
bool parts_packet(struct perfetto *r, const uint8_t **p, size_t *n);

/* Called at the end of the file, before packets that were deferred are read. */
void parts_end(struct perfetto *r);

#endif
