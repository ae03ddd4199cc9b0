/* short_tiles.h - short names of matrix products and convolutions. */
#ifndef ANALYSIS_SHORT_TILES_H
#define ANALYSIS_SHORT_TILES_H

#include "short_text.h"

/* Writes the short name of a matrix product or convolution. Returns false for the name of another kernel. */
bool short_tiles(struct short_span name, struct short_text *to);
/* Writes the tile and the type of a kernel that CUTLASS 3 generates, from its template arguments. */
bool short_tiles_of_shape(struct short_span args, struct short_text *to);

#endif
