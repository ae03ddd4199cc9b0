/* companions.h - finds the samples that belong in the packets of events: CPU time and instructions of their thread. */
#ifndef FORMAT_PERFETTO_WRITE_COMPANIONS_H
#define FORMAT_PERFETTO_WRITE_COMPANIONS_H

#include "writer.h"

/* Finds the counters of all threads. Call after the threads are described. */
void companions_begin(struct perfetto_sink *s);
void companions_end(struct perfetto_sink *s);

/* Finds the samples that belong to events of the thread, and describes their counters, to which the packets of the events refer. */
void companions_of(struct perfetto_sink *s, tk_id thread);

#endif
