/* kineto.h - generates data for xprof that a PyTorch profiler trace does not contain. */
#ifndef FORMAT_XPLANE_WRITE_KINETO_H
#define FORMAT_XPLANE_WRITE_KINETO_H

#include "writer.h"

/* Sets g->kineto if the graph is a PyTorch profiler trace; the functions below depend on it. */
void xplane_find_kineto(struct xplane_graph *g, struct mem *mem);

/* Returns the device number of a process; -1 if it is not a device. */
int64_t xplane_made_device(const struct xplane_graph *g, tk_id process);

/* xplane_add_steps adds the line of steps to a device; xplane_step_event returns the line's i-th event, or 0 if there are
 * fewer; xplane_encode_step encodes the body of an event in e->event. */
void xplane_add_steps(struct xplane_encoder *e);
tk_id xplane_step_event(const struct xplane_encoder *e, uint32_t i);
void xplane_encode_step(struct xplane_encoder *e, const struct xplane_out_line *line, tk_id event);

/* True if a line of the plane whose first event is at `first` has the file's base as its timestamp, because xprof interprets times of
 * allocations relative to the base and ignores the line's timestamp. */
bool xplane_counts_from_base(const struct xplane_encoder *e, tk_time first);

/* Prints the name of a stream. Returns false if the line has the name of its thread. */
bool xplane_put_stream_name(const struct xplane_encoder *e, struct buf *b, tk_id track);

/* xplane_put_made_stats appends the generated stats of an event. xplane_made_class_id returns the id of metadata to use instead
 * of the metadata of the event's class; 0 = none. */
void xplane_put_made_stats(struct xplane_encoder *e, struct buf *b, tk_id event);
int64_t xplane_made_class_id(struct xplane_encoder *e, const struct tk_event *ev);

/* Appends the properties of a device. */
void xplane_put_made_plane(struct xplane_encoder *e, struct buf *plane);

#endif
