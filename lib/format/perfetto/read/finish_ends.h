/* finish_ends.h - end events that name the span they end. */
#ifndef FORMAT_PERFETTO_READ_FINISH_ENDS_H
#define FORMAT_PERFETTO_READ_FINISH_ENDS_H

#include "reader.h"

/* Pairs spans whose end events name the span they end (finish_ends.c). */
void perfetto_finish_ends(struct perfetto *r);

#endif
