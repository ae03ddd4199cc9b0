/* join.h - passthrough of Perfetto in several graphs that become one (a member of the row). */
#ifndef FORMAT_PERFETTO_JOIN_H
#define FORMAT_PERFETTO_JOIN_H

#include "graph/join.h"

/* The extension descriptors of `from`, unless `to` has them already; all else is of one file. */
void perfetto_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);

#endif
