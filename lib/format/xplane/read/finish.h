/* finish.h - the steps that need the complete file: process ids and clocks. */
#ifndef FORMAT_XPLANE_READ_FINISH_H
#define FORMAT_XPLANE_READ_FINISH_H

#include "reader.h"

/* Sets pids, clocks, flows and metas after the last plane has been read. */
void xplane_finish(struct xplane_reader *r);

#endif
