/* join.h - Perfetto passthrough of several graphs that are joined into one (a member of the row). */
#ifndef FORMAT_PERFETTO_JOIN_H
#define FORMAT_PERFETTO_JOIN_H

#include "graph/join.h"

/* Copies the extension descriptors of `from` that `to` does not have yet; all other passthrough is specific to one file. */
void perfetto_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);

#endif
