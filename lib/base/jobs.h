/* jobs.h - jobs that several threads share, and that are taken back in the order in which they were given.
 *
 *     jobs_give(j, a)                    the caller's thread                    others
 *     jobs_give(j, b)                    works on what nobody has begun         work on what nobody has begun
 *     jobs_take(j) == a, then b          until the oldest job is done
 *
 * So what is made of the jobs does not depend on the number of threads, nor on which is faster. */
#ifndef BASE_JOBS_H
#define BASE_JOBS_H

#include <stdbool.h>

enum { JOBS_MOST = 64 }; /* given and not yet taken */

struct jobs;

/* `threads` of them beside the caller's, as far as the system gives them; `work` is called from any.  NULL when memory has run out. */
struct jobs *jobs_start(unsigned threads, void (*work)(void *job));
/* At most JOBS_MOST that have not been taken. */
void jobs_give(struct jobs *j, void *job);
/* The oldest job, once it is done; NULL = all have been taken. */
void *jobs_take(struct jobs *j);
/* No job runs any more, and those that have not been taken are forgotten. */
void jobs_drop(struct jobs *j);
/* Drops all; `j` may be NULL. */
void jobs_stop(struct jobs *j);

#endif
