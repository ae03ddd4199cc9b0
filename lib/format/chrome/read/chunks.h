/* chunks.h - reads a large Chrome JSON file with several threads (format/chunks.h): text is cut where an event seems to
 * start. */
#ifndef FORMAT_CHROME_READ_CHUNKS_H
#define FORMAT_CHROME_READ_CHUNKS_H

#include "reader.h"

/* Starts several threads if that pays; returns false when memory runs out. chunks_stop ends them. */
bool chrome_chunks_start(struct chrome *r);

/* True if reading the text after j.p with several threads pays. j.p must be after an event. */
bool chrome_chunks_are_due(const struct chrome *r);

/* Reads events with several threads until something else follows or the input ends. Afterwards j.p is after an event again.
 * Returns false with err on failure. */
bool chrome_chunks_read(struct chrome *r);

#endif
