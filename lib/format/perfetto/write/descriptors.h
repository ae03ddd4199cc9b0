/* descriptors.h - writes TrackDescriptors, the clock, and the top-level data of a trace. */
#ifndef FORMAT_PERFETTO_WRITE_DESCRIPTORS_H
#define FORMAT_PERFETTO_WRITE_DESCRIPTORS_H

#include "writer.h"

/* Returns FORM_COMPLETE if all spans of the track were complete events, FORM_MIXED if some were, otherwise 0. */
uint32_t descriptor_form_of_spans(const struct tk_trace *t, const struct tk_track *k);
void descriptor_tracks(struct perfetto_sink *s);
/* Returns the thread with this number; 0 = none. */
tk_id descriptor_thread_of(const struct perfetto_sink *s, tk_id process, int64_t tid);
uint64_t descriptor_thread_uuid(const struct perfetto_sink *s, tk_id process, int64_t tid);
uint64_t descriptor_child(struct perfetto_sink *s, const struct child *c);

/* Writes trace-wide data: clocks and extension descriptors at the start, top-level data at the end. */
void descriptor_trace(struct perfetto_sink *s, const struct tk_trace *t);

/* Writes the data of a graph that precedes its own tracks. For a single graph, descriptor_trace does this. */
void descriptor_graph(struct perfetto_sink *s, const struct tk_trace *t);

void descriptor_metas(struct perfetto_sink *s, const struct tk_trace *t);
void write_attribute(struct perfetto_sink *s, const char *key, const char *text, size_t n);
bool descriptor_track_hidden(const struct perfetto_sink *s, tk_id track);

#endif
