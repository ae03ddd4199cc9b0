/* chunks.h - reads a long line of an XPlane file with several threads (format/chunks.h). */
#ifndef FORMAT_XPLANE_READ_CHUNKS_H
#define FORMAT_XPLANE_READ_CHUNKS_H

#include "reader.h"

/* xplane_chunks_read reads events at the cursor with several threads, until something else follows. `end`: end of the line. */
bool xplane_chunks_start(struct xplane_reader *r);
bool xplane_chunks_are_due(const struct xplane_reader *r, uint64_t end);
bool xplane_chunks_read(struct xplane_reader *r, tk_id track, uint64_t end);

#endif
