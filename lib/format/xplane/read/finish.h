/* finish.h - steps that need the complete file: process ids, clocks. */
#ifndef FORMAT_XPLANE_READ_FINISH_H
#define FORMAT_XPLANE_READ_FINISH_H

#include "reader.h"

/* Sets pids, clocks, flows and metas after the last plane (finish.c). */
void xplane_finish(struct xplane_reader *r);

#endif
