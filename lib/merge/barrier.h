/* barrier.h - aligns clocks by an instant that a program recorded as metadata in each rank. The instant is either a barrier that all
 * ranks left together, in the time of the rank's own clock, or the start of the trace (ts 0), in the time of the host's clock. BARRIERS
 * in barrier.c has a row for each program. */
#ifndef MERGE_BARRIER_H
#define MERGE_BARRIER_H

#include "align/report.h"

/* Finds the instant of an input, and stores it in input->barrier_ns. `later`: shift of the input's times, in ns. */
void barrier_find(struct align_input *input, const struct tk_trace *t, int64_t later);
/* Sets the offsets of all inputs so that their instants are simultaneous. Returns false and changes nothing if an input has no instant
 * or a given offset, if some instants are barriers and others starts, if they are barriers and two inputs share a host, or if they are
 * starts on different hosts. */
bool barrier_apply(struct align_input *inputs, size_t n);

#endif
