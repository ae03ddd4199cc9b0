/* prune.h - drops events, while reading, that a cut to a time range will remove anyway. */
#ifndef FORMAT_PERFETTO_READ_PRUNE_H
#define FORMAT_PERFETTO_READ_PRUNE_H

#include "reader.h"

/* Schedules the first pass; must be called before the first packet is read. */
void prune_start(struct perfetto *r);
/* Drops events. Must be called between packets. */
void prune_events(struct perfetto *r);
static inline void prune_if_due(struct perfetto *r) {
  if (r->t->n_events >= r->prune.next) prune_events(r);
}

/* Removes the events whose byte in `fate` is PRUNE_GOES (prune_pass.h). Flow points must not refer to them. */
void prune_remove(struct perfetto *r, uint8_t *fate);

/* Called at the end of the file, before any time is converted. Sets trace_early.failed if a later event shows that an event should have
 * been kept. */
void prune_check(struct perfetto *r);

#endif
