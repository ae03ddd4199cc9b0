/* join.c - joins the passthrough data of several graphs. Only descriptions of event fields remain valid in the joined graph.
 *
 * Packets, machines and track descriptors are dropped, because they refer to processes by ids that have been reassigned. */
#include "join.h"

#include <string.h>

#include "passthrough.h"

static bool is_known(const struct tk_trace *t, const char *text, uint64_t size) {
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (passthrough_is(t, m, PASSTHROUGH_EXTENSIONS) && m->size == size && memcmp(trace_raw(t, m->at), text, (size_t)size) == 0)
      return true;
  }
  return false;
}

void perfetto_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state) {
  (void)ids;
  (void)state;
  for (tk_id i = 1; i <= from->n_metas; i++) {
    struct tk_meta m = from->metas[i];
    const char *text = trace_raw(from, m.at);
    if (!passthrough_is(from, &m, PASSTHROUGH_EXTENSIONS) || is_known(to, text, m.size)) continue;
    m.key = trace_text(to, PASSTHROUGH_EXTENSIONS);
    m.at = to->store->raw.len;
    buf_append(&to->store->raw, text, (size_t)m.size);
    trace_end_raw(to);
    *trace_add_meta(to) = m;
  }
}
