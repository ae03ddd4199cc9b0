/* markers.h - reads markers. */
#ifndef FORMAT_GECKO_READ_MARKERS_H
#define FORMAT_GECKO_READ_MARKERS_H

#include "reader.h"

/* Reads a table of markers of the thread that is being read. */
void gecko_read_markers(struct gecko *g, struct json_walk *w, const struct json_value *table);

#endif
