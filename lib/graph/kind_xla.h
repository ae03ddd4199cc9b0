/* kind_xla.h - kinds in traces of JAX, TensorFlow and OpenXLA, in XPlane and in JSON made from XPlane. Kinds follow from the
 * names of planes and lines, the stats of events, and nesting. */
#ifndef GRAPH_KIND_XLA_H
#define GRAPH_KIND_XLA_H

#include "kind.h"

/* True for transfers between host and device, or between devices. */
bool kind_xla_is_transfer(const char *name);
/* Sets the kinds implied by each shape of args: steps, ops. Indexed by shape id; [0] is 0. */
void kind_xla_shapes(const struct tk_trace *t, uint32_t *of_shape);
/* Adds the kinds of each class to of_class[]. */
void kind_xla_classes(const struct tk_trace *t, uint32_t *of_class);
/* Sets the kinds of all events of each track; KIND_TRANSFER marks the lines on which everything but collectives moves data,
 * KIND_REPEAT the lines that show the work of other lines again. Returns false if memory runs out. */
bool kind_xla_tracks(struct kinds *k);
/* Adds KIND_ANNOTATION to the classes of TraceAnnotations. Returns false when memory runs out. */
bool kind_xla_annotations(struct kinds *k);

#endif
