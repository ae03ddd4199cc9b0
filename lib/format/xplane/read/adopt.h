/* adopt.h - turns a block that another format embedded (write/carried.c) into the passthrough of the graph that was read
 * with it. */
#ifndef FORMAT_XPLANE_READ_ADOPT_H
#define FORMAT_XPLANE_READ_ADOPT_H

#include "format/xplane/xplane.h"

bool xplane_adopt(struct tk_trace *t);

#endif
