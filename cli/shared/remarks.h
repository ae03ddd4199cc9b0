/* remarks.h - remarks below tables that several commands print. */
#ifndef CLI_SHARED_REMARKS_H
#define CLI_SHARED_REMARKS_H

#include <stdint.h>

/* Said of rows that only show that a profiler ran. */
extern const char remarks_marks[];

/* Events that a table contains only in part. unit: of the sums; NULL = they are times. */
struct remarks_partial {
  const char *unit;
  uint64_t unweighed, unfinished, clipped;
};
void remarks_partial(const struct remarks_partial *p);
/* Says how many events a comparison of steps leaves out; nothing for 0. */
void remarks_outside(uint64_t n);

#endif
