/* finish.h - the steps that need the complete file: converting pending times, ordering flows by time, choosing the origin. */
#ifndef FORMAT_PERFETTO_READ_FINISH_H
#define FORMAT_PERFETTO_READ_FINISH_H

#include "reader.h"

void perfetto_finish(struct perfetto *r);

#endif
