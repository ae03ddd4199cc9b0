/* metas.h - converts the top-level data of an XSpace: plane stats, hostnames, errors, and passthrough data. */
#ifndef FORMAT_XPLANE_READ_METAS_H
#define FORMAT_XPLANE_READ_METAS_H

#include "reader.h"

/* Adds the passthrough data, and the data of spaces and planes that all formats can represent. */
void xplane_add_metas(struct xplane_reader *r);

#endif
