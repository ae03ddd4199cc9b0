/* prune_flows.h - drops flows, while reading, that a cut to a time range will remove anyway. */
#ifndef FORMAT_PERFETTO_READ_PRUNE_FLOWS_H
#define FORMAT_PERFETTO_READ_PRUNE_FLOWS_H

#include "prune_pass.h"

/* Lists the points that seal will bind to spans. Returns false when memory runs out. */
bool prune_flows_begin(struct prune_pass *p);
void prune_flows_judged(struct prune_pass *p); /* called when all sites have been passed */
void prune_flows_end(struct prune_pass *p);

/* Finds the spans to which points of a site will be bound. p->order[0..n): the begin and end events and the spans of the site, by time,
 * up to the first irregularity. Sites must be passed in ascending order, each once. */
void prune_flows_site(struct prune_pass *p, uint32_t site, uint32_t n);

/* Drops flows, and keeps the events with points of all other flows. */
void prune_flows_drop(struct prune_pass *p);

/* True if a point that was added since the last pass belongs to a dropped flow, or might have been bound to a dropped span. */
bool prune_flows_intrude(const struct perfetto *r);

#endif
