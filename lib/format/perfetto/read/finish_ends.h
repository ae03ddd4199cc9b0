/* finish_ends.h - pairs spans with end events that name the span they end. */
#ifndef FORMAT_PERFETTO_READ_FINISH_ENDS_H
#define FORMAT_PERFETTO_READ_FINISH_ENDS_H

#include "reader.h"

/* Pairs the spans of those tracks on which an end event names a span other than the innermost one. */
void perfetto_finish_ends(struct perfetto *r);

#endif
