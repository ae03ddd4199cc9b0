/* metas.h - converts the top-level data of an XSpace: plane stats, hostnames, errors, and passthrough data. */
#ifndef FORMAT_XPLANE_READ_METAS_H
#define FORMAT_XPLANE_READ_METAS_H

#include "reader.h"

/* Stores the passthrough data (space, clock, planes, lines, classes) as metas, and adds the data of the XSpace and its planes that
 * other formats can represent. */
void xplane_add_metas(struct xplane_reader *r);

#endif
