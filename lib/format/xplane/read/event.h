/* event.h - converts an XEvent to an event, and XStats to args: handles any order of fields and all repairs. */
#ifndef FORMAT_XPLANE_READ_EVENT_H
#define FORMAT_XPLANE_READ_EVENT_H

#include "reader.h"

/* Reads the event in p[0, n). The cursor is at the end of the event. `end`: end of the line. */
void xplane_read_event(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n, uint64_t end);

/* True if the content of a field begins like an entry of a map: with a key and a message. */
bool xplane_looks_like_entry(const uint8_t *p, const uint8_t *end);

/* Reads an event of a chunk; returns false if the main reader must handle it. */
bool xplane_read_event_apart(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n);

#endif
