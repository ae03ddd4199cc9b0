/* timeline.h - the events of all tracks sorted by time, for conditions on ts and for ORDER BY ts. */
#ifndef SQL_TIMELINE_H
#define SQL_TIMELINE_H

#include "sql.h"

/* Sorts the events by their times in nanoseconds, events of equal times by id. Returns false if memory runs out. */
bool timeline_build(struct tk_sql *s);

/* Returns the place of the first event of the timeline at or after this time; n_events if there is none. Searches outwards from
 * the place `near`, so that a series of ascending times costs little. */
uint32_t timeline_first(const struct tk_sql *s, int64_t ns, uint32_t near);

#endif
