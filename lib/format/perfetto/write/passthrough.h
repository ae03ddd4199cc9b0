/* passthrough.h - writes the contents of a Perfetto input that the graph cannot represent. */
#ifndef FORMAT_PERFETTO_WRITE_PASSTHROUGH_H
#define FORMAT_PERFETTO_WRITE_PASSTHROUGH_H

#include "writer.h"

/* Appends the fields of the track's descriptor that are not modelled; with `inner`, the fields of its process, thread or counter. */
void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to);
void passthrough_tracks_begin(struct perfetto_sink *s);
bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid);
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track);

/* Writes the original descriptors that come after the events if `after`, otherwise the others. */
void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after);

/* Writes those packets of the graph that must come after its events. */
void write_late_packets(struct perfetto_sink *s);

/* Writes the packets that are passed through. A packet that is no longer valid counts as lost. */
void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t);

/* passthrough_first must be called once, before the other functions; passthrough_next once for each graph, before that graph is
 * written. If there are several graphs, each has its own machines, so their packets do not affect each other. */
void passthrough_first(struct perfetto_sink *s, const struct tk_trace *first);
void passthrough_next(struct perfetto_sink *s, const struct tk_trace *t);
/* Returns the new id of this graph's machine number `at` if several graphs are written. `id`: id of the machine in the
 * input. */
static inline uint32_t passthrough_machine_id(const struct perfetto_sink *s, uint32_t at, uint32_t id) {
  return id ? s->sink.ordinal + s->sink.graphs * (at + 1) : s->sink.ordinal;
}
/* True if the process has a new name, and none of the packets that were passed through contains it. */
bool passthrough_lacks_name(const struct perfetto_sink *s, tk_id process);

/* Writes the data that other formats have embedded since the last call (format/carry.h). */
void write_blocks(struct perfetto_sink *s);
uint32_t passthrough_sequence(struct perfetto_sink *s);

#endif
