/* apply.h - moves the events of a trace by the map of its clock (align/solve/solve.h). */
#ifndef ALIGN_APPLY_H
#define ALIGN_APPLY_H

#include "graph/trace.h"
#include "solve/solve.h"

bool align_is_constant(const struct align_map *m);
/* Returns the offset of the clock, in ns, when it shows `reading_ns`. */
int64_t align_offset(const struct align_map *m, int64_t reading_ns);
/* Adds `later_ns` to the times of a trace, then removes the offset that the map states. Durations change only if the map is not
 * constant. Returns false with err on failure. */
bool align_apply(struct tk_trace *t, const struct align_map *m, int64_t later_ns, struct tk_err *err);

#endif
