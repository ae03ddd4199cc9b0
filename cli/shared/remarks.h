/* remarks.h - remarks below tables that several commands print. */
#ifndef CLI_SHARED_REMARKS_H
#define CLI_SHARED_REMARKS_H

#include <stdint.h>

/* Remark about rows that only show that a profiler ran. */
extern const char remarks_marks[];

/* Numbers of events that a table counts only in part. unit: unit of the table's sums; NULL = time. */
struct remarks_partial {
  const char *unit;
  uint64_t unweighed, unfinished, clipped;
};
void remarks_partial(const struct remarks_partial *p);
/* Prints that a comparison of steps leaves out n events; nothing if n is 0. */
void remarks_outside(uint64_t n);

#endif
