/* extra.h - counter samples that accompany an event; its `extra` must be set. */
#ifndef FORMAT_PERFETTO_READ_EXTRA_H
#define FORMAT_PERFETTO_READ_EXTRA_H

#include "track_event.h"

/* Computes the values of the samples of the event, and from them its thread time. `site`: sequence, time and category of the event. */
void extra_compute(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e,
                   const struct counter_sample *site);

/* Adds the event's counter samples to the graph. */
void extra_add(struct perfetto *r, const struct track_event *e, struct counter_sample site);

#endif
