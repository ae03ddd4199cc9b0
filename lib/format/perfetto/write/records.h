/* records.h - writes records. */
#ifndef FORMAT_PERFETTO_WRITE_RECORDS_H
#define FORMAT_PERFETTO_WRITE_RECORDS_H

#include "writer.h"

/* Writes the records of the graph as private packets. */
void records_write(struct perfetto_sink *s);

#endif
