/* legacy.h - writes async events in the form of Chrome's legacy events (TrackEvent.legacy_event).
 *
 * The async events of a Perfetto input have this form, and importers show them on tracks by name and id rather than below a process.
 * Source of the fields: perfetto/trace/track_event/track_event.proto. */
#ifndef FORMAT_PERFETTO_WRITE_LEGACY_H
#define FORMAT_PERFETTO_WRITE_LEGACY_H

#include "writer.h"

/* True if all events of the async track can be written as legacy events from which a reader recovers the same args. */
bool legacy_fits(const struct tk_trace *t, const struct tk_track *track);

/* Returns a hash of what chooses the event's track in importers: category, scope, id and, in the phases S, T, p and F, name. */
uint64_t legacy_identity(const struct tk_trace *t, const struct tk_event *e);

/* Puts the fields of a legacy_event into w->legacy. `at_end`: those of the span's end event. */
void legacy_put(struct event_writer *w, const struct tk_event *e, bool at_end);

/* True for args that legacy_put represents. */
static inline bool legacy_says(tk_id key) { return key == KEY_ID || key == KEY_ID2 || key == KEY_SCOPE || key == KEY_PH; }

/* Appends the event's fields that are not modelled to `to`, and those of its legacy_event to `legacy`, because readers use only the
 * last legacy_event of a packet. */
void legacy_merge(const struct raw_fields *fields, struct buf *to, struct buf *legacy);

#endif
