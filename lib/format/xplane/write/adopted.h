/* adopted.h - restores the link between events of a plane that another format embedded and their metadata. */
#ifndef FORMAT_XPLANE_WRITE_ADOPTED_H
#define FORMAT_XPLANE_WRITE_ADOPTED_H

#include "writer.h"

/* Collects the metadata of a plane that another format embedded, and the types of stats, in order to find each event's metadata
 * and drop the args that it contains. */
struct xplane_adopted *xplane_adopted_new(struct xplane_encoder *e);
void xplane_adopted_free(struct xplane_adopted *a);

/* Returns the event's own *n args, valid until the next call; *id is its metadata, 0 = not in the plane. */
const struct tk_arg *xplane_adopted_args(struct xplane_encoder *e, const struct tk_event *ev, uint32_t *n, int64_t *id);

/* True if the arg is bytes that the other format stored as text. The bytes are valid until the next call. */
bool xplane_adopted_bytes(struct xplane_encoder *e, const struct tk_arg *arg, struct xplane_bytes *bytes);

#endif
