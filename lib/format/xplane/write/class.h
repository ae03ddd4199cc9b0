/* class.h - writes event metadata: the classes of a graph as entries in the map of their plane. */
#ifndef FORMAT_XPLANE_WRITE_CLASS_H
#define FORMAT_XPLANE_WRITE_CLASS_H

#include "writer.h"

/* Returns the id of the metadata of a class, adding it to the map if necessary. */
int64_t xplane_class_id(struct xplane_encoder *e, tk_id cls);

/* Like xplane_class_id, for an event whose stats override stats of its metadata; args of the event contain the overridden
 * stats. */
int64_t xplane_overruled_class_id(struct xplane_encoder *e, const struct tk_event *ev);

/* Like xplane_class_id, for events whose name for xprof, `name`, differs from the displayed one; `name` is NULL for events that
 * were generated for xprof. */
int64_t xplane_variant_id(struct xplane_encoder *e, tk_id cls, uint32_t variant, const char *name, size_t n);

/* Like xplane_class_id, for one series of a counter. */
int64_t xplane_series_id(struct xplane_encoder *e, tk_id cls, tk_id series);

/* For a pruned plane: writes the children of metadata in use. */
void xplane_put_children(struct xplane_encoder *e);

/* For a pruned plane: keeps the metadata with this id unchanged. */
void xplane_use_class(struct xplane_encoder *e, int64_t id);

#endif
