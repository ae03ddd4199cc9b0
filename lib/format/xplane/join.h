/* join.h - passthrough of XPlane in several graphs that become one (members of the row). */
#ifndef FORMAT_XPLANE_JOIN_H
#define FORMAT_XPLANE_JOIN_H

#include "graph/join.h"

/* The planes, lines and classes of `from` behind those of `to`, which has them when all have joined. */
void xplane_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
void xplane_join_finish(struct tk_trace *t, void *state);

#endif
