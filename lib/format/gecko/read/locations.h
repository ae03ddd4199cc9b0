/* locations.h - finds functions and libraries of raw frames. */
#ifndef FORMAT_GECKO_READ_LOCATIONS_H
#define FORMAT_GECKO_READ_LOCATIONS_H

#include "reader.h"

/* Reads the libraries of a raw process and the addresses at which they were mapped. */
void gecko_read_libs(struct gecko *g, struct json_walk *w, const struct json_value *list);
/* Parses the location of a raw frame, as the Firefox Profiler does: an address, a native function "name (in library)", a JavaScript
 * function "name (file:line:column)", or a label. */
struct tk_frame gecko_location(struct gecko *g, tk_id text);

#endif
