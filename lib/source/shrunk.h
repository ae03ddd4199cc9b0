/* shrunk.h - finds in a trace's metadata how many events earlier shrinks removed. */
#ifndef SOURCE_SHRUNK_H
#define SOURCE_SHRUNK_H

#include "graph/trace.h"

/* Numbers of events that all earlier shrinks removed, or merged into others, and number of events that lost args. */
struct shrunk_sums {
  uint64_t removed, merged, stripped;
};

/* Returns what earlier shrinks of the trace removed; all 0 if it was never shrunk. */
struct shrunk_sums shrunk_find(const struct tk_trace *t);
/* Adds a note to the trace if it was shrunk. */
void shrunk_note(struct tk_trace *t);

#endif
