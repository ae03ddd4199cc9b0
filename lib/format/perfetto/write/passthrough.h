/* passthrough.h - writes the contents of a Perfetto input that the graph cannot represent. */
#ifndef FORMAT_PERFETTO_WRITE_PASSTHROUGH_H
#define FORMAT_PERFETTO_WRITE_PASSTHROUGH_H

#include "writer.h"

/* Appends the fields of the track's descriptor that are not modelled; with `inner`, those of its process, thread or counter. */
void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to);
void passthrough_tracks_begin(struct perfetto_sink *s);
bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid);
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track);

/* Writes the original descriptors that come after the events if `after`, otherwise the others. */
void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after);

/* Writes the packets that are passed through with the first graph. Those of later graphs are lost, because they may use the
 * same sequences, and their clocks differ. */
void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t, bool first);

/* Writes the data that other formats have embedded since the last call (format/carry.h). */
void write_blocks(struct perfetto_sink *s);
uint32_t passthrough_sequence(struct perfetto_sink *s);

#endif
