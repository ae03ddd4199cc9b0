/* class.h - event metadata: the classes of a graph in the map of their plane. */
#ifndef FORMAT_XPLANE_WRITE_CLASS_H
#define FORMAT_XPLANE_WRITE_CLASS_H

#include "writer.h"

/* Returns the id of the metadata of a class, adding it to the map if necessary. */
int64_t xplane_class_id(struct xplane_encoder *e, tk_id cls);

/* The same for an event whose stats override stats of its metadata, which args contain. */
int64_t xplane_overruled_class_id(struct xplane_encoder *e, const struct tk_event *ev);

/* The same for events that have another name for xprof than the displayed one; `name` NULL: for events generated for xprof. */
int64_t xplane_variant_id(struct xplane_encoder *e, tk_id cls, uint32_t variant, const char *name, size_t n);

/* The same for one series of a counter. */
int64_t xplane_series_id(struct xplane_encoder *e, tk_id cls, tk_id series);

/* For a pruned plane: writes the children of metadata in use. */
void xplane_put_children(struct xplane_encoder *e);

/* For a pruned plane: keeps metadata of an event unchanged. */
void xplane_use_class(struct xplane_encoder *e, int64_t id);

#endif
