/* finish.h - steps that need the complete file: pending times, flows in order of time, the origin. */
#ifndef FORMAT_PERFETTO_READ_FINISH_H
#define FORMAT_PERFETTO_READ_FINISH_H

#include "reader.h"

void perfetto_finish(struct perfetto *r);

#endif
