/* asyncs.h - writes async spans, which are matched by an identity rather than by a thread's stack. */
#ifndef FORMAT_PERFETTO_WRITE_ASYNCS_H
#define FORMAT_PERFETTO_WRITE_ASYNCS_H

#include "writer.h"

/* Writes the events of an async track. */
void asyncs_write(struct perfetto_sink *s, tk_id track);

#endif
