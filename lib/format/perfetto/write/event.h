/* event.h - TrackEvents, as small as possible without losing a name. */
#ifndef FORMAT_PERFETTO_WRITE_EVENT_H
#define FORMAT_PERFETTO_WRITE_EVENT_H

#include "writer.h"

void event_find_keys(struct event_writer *w);
void event_slice_begin(struct event_writer *w, tk_id event);
void event_slice_end(struct event_writer *w, tk_id event, int64_t ns);
void event_instant(struct event_writer *w, tk_id event);

/* Write a counter sample. First come the args of its event that the sample does not represent: event_begin_rest, then
 * event_rest for each, then event_counter. `joined`: it is a further series of the previous sample's event. */
void event_begin_rest(struct event_writer *w);
void event_rest(struct event_writer *w, const struct tk_arg *arg);
void event_counter(struct event_writer *w, tk_id event, const struct tk_arg *value, bool joined);
bool event_is_counter_field(const struct event_writer *w, const struct tk_arg *arg);

/* Writes a counter event that has no sample; only our reader uses it. */
void event_lone_counter(struct event_writer *w, tk_id event);

/* True if a reader recovers exactly this number from the nearest double, which is stored in *d. */
bool event_decimal_is_double(const struct tk_arg *a, double *d);

#endif
