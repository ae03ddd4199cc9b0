/* records.h - writes records: JSON without a time, or without meaning as an event. */
#ifndef FORMAT_PERFETTO_WRITE_RECORDS_H
#define FORMAT_PERFETTO_WRITE_RECORDS_H

#include "writer.h"

/* Writes the records of the graph as private packets. */
void records_write(struct perfetto_sink *s);

#endif
