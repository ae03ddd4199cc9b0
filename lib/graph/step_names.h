/* step_names.h - recognises spans that mark steps by their names, for traces in which the profiler marked none. One table row
 * per producer, in step_names.c. */
#ifndef GRAPH_STEP_NAMES_H
#define GRAPH_STEP_NAMES_H

#include "trace.h"

struct step_names {
  bool *marks;  /* by class: true if its spans are steps; NULL: no class has steps */
  bool ordinal; /* the numbers in names do not count steps */
  bool cuts;    /* each event begins a step, which ends where the next one begins */
};

/* Finds the classes whose spans mark steps: classes of the trace's own pattern (store->step_name), otherwise classes of the first
 * row that any class matches, otherwise the XLA program that ran repeatedly and longest on a device. Finds none if the profiler
 * marked steps itself. Returns false when memory runs out. */
bool step_names_find(struct step_names *n, const struct tk_trace *t, struct mem *mem);
void step_names_free(struct step_names *n, struct mem *mem);

/* Returns the last integer in a name; false if there is none. */
bool step_names_number(const char *name, int64_t *number);
/* Checks a pattern: a glob that matches the whole name, or a regular expression between slashes; "every:" may precede both. */
bool step_names_check(const char *pattern, struct tk_err *err);

#endif
