/* kind_xla.h - what the traces of JAX, TensorFlow and OpenXLA say of kinds, in XPlane and in the JSON that is made of it: names of
 * planes and lines, stats of events, nesting. */
#ifndef GRAPH_KIND_XLA_H
#define GRAPH_KIND_XLA_H

#include "kind.h"

/* Moves data between host and device, or between devices. */
bool xla_is_transfer(const char *name);
/* Kinds of all events with args of a shape: steps, ops.  Index: its id; [0] is 0. */
void xla_shapes(const struct tk_trace *t, uint32_t *of_shape);
/* Adds kinds of classes. */
void xla_classes(const struct tk_trace *t, uint32_t *of_class);
/* Kinds of all events of a track. */
void xla_tracks(const struct tk_trace *t, uint32_t *of_track);
/* Adds KIND_ANNOTATION to the classes of TraceAnnotations.  False when memory has run out. */
bool xla_annotations(struct kinds *k);

#endif
