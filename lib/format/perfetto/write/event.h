/* event.h - writes TrackEvents that are as small as possible without losing names. */
#ifndef FORMAT_PERFETTO_WRITE_EVENT_H
#define FORMAT_PERFETTO_WRITE_EVENT_H

#include "writer.h"

void event_find_keys(struct event_writer *w);
void event_slice_begin(struct event_writer *w, tk_id event);
void event_slice_end(struct event_writer *w, tk_id event, int64_t ns);
void event_instant(struct event_writer *w, tk_id event);

/* Put the fields of a span's begin or end event into w->event, and the flow points of this event into w->private_fields. A begin event
 * starts a new packet; an end event is written without a type. */
void event_put_begin(struct event_writer *w, tk_id event);
void event_put_end(struct event_writer *w, tk_id event);
/* True if the event has fields that may refer to unmodelled interned data (plain.h). */
bool event_needs_interned(const struct event_writer *w, const struct tk_event *e);

/* Write a counter sample. First come the args of its event that the sample does not represent: event_begin_rest, then
 * event_rest for each of them, then event_counter. `joined`: the sample is another series of the previous sample's event. If
 * w->counter has a GpuCounterEvent, it is written, with the sample in private fields. */
void event_begin_rest(struct event_writer *w);
void event_rest(struct event_writer *w, const struct tk_arg *arg);
void event_counter(struct event_writer *w, tk_id event, const struct tk_arg *value, bool joined);
/* Returns the value of a number, as the nearest double. */
double event_double_of(const struct tk_arg *value);
bool event_is_counter_field(const struct event_writer *w, const struct tk_arg *arg);

/* Writes a counter event without a sample, which only our reader uses. */
void event_lone_counter(struct event_writer *w, tk_id event);

/* True if a reader recovers exactly this decimal from the nearest double; sets *d to this double. */
bool event_decimal_is_double(const struct tk_arg *a, double *d);

#endif
