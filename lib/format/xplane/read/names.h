/* names.h - replaces provisional names at the end of a plane with the names in its maps. */
#ifndef FORMAT_XPLANE_READ_NAMES_H
#define FORMAT_XPLANE_READ_NAMES_H

#include "reader.h"

/* Sets the names of the classes, keys and refs that the plane's events use. The plane's fields, except lines, are the raw text
 * from plane->at on. */
bool xplane_name_plane(struct xplane_reader *r, struct xplane_plane *plane, uint32_t first_line);

#endif
