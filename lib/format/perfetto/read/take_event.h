/* take_event.h - converts a struct track_event to an event, counter samples and flow points. */
#ifndef FORMAT_PERFETTO_READ_TAKE_EVENT_H
#define FORMAT_PERFETTO_READ_TAKE_EVENT_H

#include "track_event.h"

/* Adds the event to the graph. */
void perfetto_take_event(struct perfetto *r, struct sequence *q, const struct packet *k, struct track_event *e);

/* Closes the begin event `id` at the time of e, with the args of e. `pairs`: the span was recorded as a begin and an end event. */
void take_event_end(struct perfetto *r, struct sequence *q, struct track_event *e, tk_id id, bool pairs);

#endif
