/* records.h - reads private packets without an event: records, events that viewers do not show, flow points without an
 * event. */
#ifndef FORMAT_PERFETTO_READ_RECORDS_H
#define FORMAT_PERFETTO_READ_RECORDS_H

#include "reader.h"

void perfetto_private_packet(struct perfetto *r, struct sequence *q, const struct packet *k);
void perfetto_record_times(struct perfetto *r, int64_t origin);

#endif
