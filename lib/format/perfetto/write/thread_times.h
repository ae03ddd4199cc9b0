/* thread_times.h - writes the CPU time and the instructions of a thread into the packets of its events. */
#ifndef FORMAT_PERFETTO_WRITE_THREAD_TIMES_H
#define FORMAT_PERFETTO_WRITE_THREAD_TIMES_H

#include "writer.h"

/* Returns the bit in w->accompanied[event] for the sample of counter number `which` at the event's begin or end. */
static inline uint8_t thread_times_bit(unsigned which, bool at_end) { return (uint8_t)((at_end ? 8 : 2) << which); }

/* Sets *value to the value that the sample of an arg has: args have the time in us, samples in ns. Returns false if there is no such
 * arg. */
bool thread_times_value(const struct event_writer *w, tk_id event, unsigned which, bool at_end, int64_t *value);

/* True if the packet of an event contains this sample. */
static inline bool thread_times_has(const struct event_writer *w, tk_id sample) {
  return w->accompanied && w->accompanied[sample] & ACCOMPANIES;
}
/* True if the packet of the event's begin or end contains the value of the arg as a sample. */
bool thread_times_says(const struct event_writer *w, tk_id event, tk_id key);
/* Writes the samples of the event's begin, or of its end, into its packet. */
void thread_times_put(struct event_writer *w, tk_id event, bool at_end);

#endif
