/* event.h - encodes an event as the body of an XEvent. */
#ifndef FORMAT_XPLANE_WRITE_EVENT_H
#define FORMAT_XPLANE_WRITE_EVENT_H

#include "writer.h"

/* Encodes the body of an XEvent in e->event. */
void xplane_encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event event);

#endif
