/* record.h - keeps events raw: metadata, objects, memory dumps, unknown phases. */
#ifndef FORMAT_CHROME_READ_RECORD_H
#define FORMAT_CHROME_READ_RECORD_H

#include "reader.h"

/* Keeps the members of the object at `from`, except those that follow from the record's track and time. */
void chrome_record(struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *from);

/* Names tracks of events without pid or tid after the track on which trace_processor places these events: a producer may name
 * process 0 and omit the pid of its events. Called after all events have been read. */
void chrome_name_stand_ins(struct tk_trace *t);

#endif
