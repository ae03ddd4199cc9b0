/* adopted.h - finds the metadata of events, for planes that another format embedded. */
#ifndef FORMAT_XPLANE_WRITE_ADOPTED_H
#define FORMAT_XPLANE_WRITE_ADOPTED_H

#include "writer.h"

/* Indexes the metadata of a plane that another format embedded, and the types of its stats. */
struct xplane_adopted *xplane_adopted_new(struct xplane_encoder *e);
void xplane_adopted_free(struct xplane_adopted *a);

/* Returns the *n args that are the event's own stats, valid until the next call. *id becomes the id of its metadata; 0 = the
 * plane has no such metadata. */
const struct tk_arg *xplane_adopted_args(struct xplane_encoder *e, const struct tk_event *ev, uint32_t *n, int64_t *id);

/* True if the arg contains bytes, which the other format stored as text. Sets *bytes, which are valid until the next call. */
bool xplane_adopted_bytes(struct xplane_encoder *e, const struct tk_arg *arg, struct xplane_bytes *bytes);

#endif
