/* flow.h - creates flow points from stats that link events. */
#ifndef FORMAT_XPLANE_READ_FLOW_H
#define FORMAT_XPLANE_READ_FLOW_H

#include "reader.h"

/* Adds the flow points that stats of events define. */
void xplane_link(struct xplane_reader *r);

#endif
