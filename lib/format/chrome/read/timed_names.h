/* timed_names.h - removes durations from names. */
#ifndef CHROME_READ_TIMED_NAMES_H
#define CHROME_READ_TIMED_NAMES_H

struct tk_trace;

/* Removes the durations that Paddle appends to names of spans. Called after all events and metadata have been read. A failed allocation
 * is recorded in the memory of the trace. */
void chrome_untime_names(struct tk_trace *t);

#endif
