/* asyncs.h - async spans, which have an identity instead of a stack. */
#ifndef FORMAT_PERFETTO_WRITE_ASYNCS_H
#define FORMAT_PERFETTO_WRITE_ASYNCS_H

#include "writer.h"

/* Writes the events of an async track (asyncs.c). */
void asyncs_write(struct perfetto_sink *s, tk_id track);

#endif
