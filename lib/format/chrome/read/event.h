/* event.h - reads one event of a Chrome JSON file by the general path: any key order, any spelling, every repair. */
#ifndef FORMAT_CHROME_READ_EVENT_H
#define FORMAT_CHROME_READ_EVENT_H

#include "reader.h"

/* Initialises the tables of the reader, and its templates unless they are disabled. chrome_reader_free frees them. Returns
 * false when memory runs out. */
bool chrome_reader_init(struct chrome *r);
void chrome_reader_free(struct chrome *r);

/* Reads the events after j.p until one is not spelled like an earlier event (template.h). */
void chrome_predicted_events(struct chrome *r);

/* Reads the event at r->j.p. If it returns true, the event was added to the graph, and j.p is after it. */
bool chrome_event(struct chrome *r);

#endif
