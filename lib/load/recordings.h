/* recordings.h - joins the recordings that several profilers made of one rank into one trace.
 *
 *     align/twice.h   finds events that two recordings contain, and the offset of their clocks
 *     recordings.c    moves each other recording to the clock of the main one, drops duplicate events, and appends it
 *     beside.c        places processes and threads: equal pids are one process, with a row per recorder for each thread */
#ifndef LOAD_RECORDINGS_H
#define LOAD_RECORDINGS_H

#include "tracekit.h"

/* Appends another recording, which is changed, to the main one. `align` is as for sources_set_align. Adds a note about the clocks
 * and the duplicates. Returns false with err on failure. */
bool recordings_join(struct tk_trace *main, struct tk_trace *other, enum tk_align align, struct tk_err *err);

/* True if both were recording at the same time, by their clocks. */
bool recordings_overlap(const struct tk_trace *a, const struct tk_trace *b);

#endif
