/* adopt.h - converts a block that another format embedded (write/carried.c) to passthrough data of the graph. */
#ifndef FORMAT_XPLANE_READ_ADOPT_H
#define FORMAT_XPLANE_READ_ADOPT_H

#include "format/xplane/xplane.h"

bool xplane_adopt(struct tk_trace *t);

#endif
