/* plain.h - writes events with unmodelled fields that may refer to unmodelled interned data. */
#ifndef FORMAT_PERFETTO_WRITE_PLAIN_H
#define FORMAT_PERFETTO_WRITE_PLAIN_H

#include "writer.h"

/* Collects interned data to which events refer. */
void plain_interned_begin(struct event_writer *w);

/* plain_begin decides whether the event is written in plain form, that is, without iids of our own; the other functions write its
 * texts and args in this form. */
void plain_begin(struct event_writer *w, tk_id event, bool at_end);
void plain_text(struct event_writer *w, uint32_t field, tk_id text);
void plain_annotation(struct event_writer *w, const struct tk_arg *arg, uint32_t skip, const struct buf *value);

/* Writes the packet with w->event and w->private_fields. `id`: event or flow point to which its size is attributed. */
void plain_event(struct event_writer *w, int64_t ns, enum sink_part part, tk_id id);

#endif
