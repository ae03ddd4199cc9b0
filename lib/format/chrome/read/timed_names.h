/* timed_names.h - removes durations from names. */
#ifndef CHROME_READ_TIMED_NAMES_H
#define CHROME_READ_TIMED_NAMES_H

struct tk_trace;

/* Names spans without the durations that Paddle appends. Called once all events and metadata are read. A failure shows in the memory of
 * the trace. */
void chrome_untime_names(struct tk_trace *t);

#endif
