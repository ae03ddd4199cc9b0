/* remarks.h - remarks below tables that several commands print. */
#ifndef CLI_SHARED_REMARKS_H
#define CLI_SHARED_REMARKS_H

#include <stdint.h>

#include "tracekit.h"

/* Remark about rows that only show that a profiler ran. */
extern const char remarks_marks[];

/* Numbers of events that a table counts only in part. unit: unit of the table's sums; NULL = time. */
struct remarks_partial {
  const char *unit;
  uint64_t unweighed, unfinished, clipped;
};
void remarks_partial(const struct remarks_partial *p);
/* Prints how much of each run is left out of a comparison of steps; prints nothing if nothing is left out. names: names to print for
 * the runs; NULL = runs[i].name. */
void remarks_outside(const struct tk_compare_run *runs, size_t n, const char *const *names);
/* True if outputs name the spans that mark steps. PyTorch's own steps are not named, because all of its profiles have them. name: NULL
 * = no name. */
bool remarks_names_steps(const char *name);
/* Prints the name of the spans that mark steps if outputs name them. */
void remarks_steps(const char *name);

#endif
