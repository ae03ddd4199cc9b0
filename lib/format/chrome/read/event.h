/* event.h - reads one event of a Chrome JSON file by the general path: any key order, any spelling, every repair. */
#ifndef FORMAT_CHROME_READ_EVENT_H
#define FORMAT_CHROME_READ_EVENT_H

#include "reader.h"

/* Creates empty tables, and templates unless disabled; chrome_reader_free frees them. */
bool chrome_reader_init(struct chrome *r);
void chrome_reader_free(struct chrome *r);

/* Reads as many events after j.p as are spelled like earlier ones. */
void chrome_predicted_events(struct chrome *r);

/* Reads the object at r->j.p. On JSON_OK it is in the graph and j.p is after it. */
bool chrome_event(struct chrome *r);

#endif
