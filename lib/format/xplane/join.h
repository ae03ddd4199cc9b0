/* join.h - joins the XPlane passthrough data of several graphs (format->join). */
#ifndef FORMAT_XPLANE_JOIN_H
#define FORMAT_XPLANE_JOIN_H

#include "graph/join.h"

/* xplane_join appends the planes, lines and classes of `from` to those collected in *state; xplane_join_finish adds them to the
 * joined graph. */
void xplane_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
void xplane_join_finish(struct tk_trace *t, void *state);

#endif
