/* join.h - joins the passthrough data of several graphs (format->join). */
#ifndef FORMAT_PERFETTO_JOIN_H
#define FORMAT_PERFETTO_JOIN_H

#include "graph/join.h"

/* Copies the properties of tracks, and the extension descriptors of `from` that `to` does not have yet. All other passthrough data is
 * only valid within one file. */
void perfetto_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
/* Adds the properties of tracks that perfetto_join collected in `state`, and frees it. */
void perfetto_join_finish(struct tk_trace *to, void *state);

#endif
