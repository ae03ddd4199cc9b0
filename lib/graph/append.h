/* append.h - joins two graphs that have not been sealed: what a file read in parts becomes. */
#ifndef GRAPH_APPEND_H
#define GRAPH_APPEND_H

#include "trace.h"

/* Adds everything of `src` behind what `dst` holds, as if one reader had read both, one after the other.  Tracks of one identity
 * become one; times keep their absolute value.  Neither is sealed; src stays as it is.  False when memory runs out or the times of
 * src are out of dst's range. */
bool append(struct tk_trace *dst, const struct tk_trace *src, struct tk_err *err);

#endif
