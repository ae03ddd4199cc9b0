/* adopt.h - restores properties of Perfetto tracks from the block that another format embedded. */
#ifndef FORMAT_PERFETTO_READ_ADOPT_H
#define FORMAT_PERFETTO_READ_ADOPT_H

#include "graph/trace.h"

/* Restores the properties of tracks from the embedded blocks of a sealed trace (format->adopt). Returns false if the blocks are
 * damaged. */
bool perfetto_adopt(struct tk_trace *t);

#endif
