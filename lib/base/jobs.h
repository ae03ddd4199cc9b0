/* jobs.h - a queue of jobs for several threads; results are taken in the order in which jobs were given.
 *
 *     jobs_give(j, a)                    caller's thread                        other threads
 *     jobs_give(j, b)                    runs jobs that have not begun          run jobs that have not begun
 *     jobs_take(j) == a, then b          until the oldest job is done
 *
 * Therefore the result does not depend on the number of threads or on their speed. */
#ifndef BASE_JOBS_H
#define BASE_JOBS_H

#include <stdbool.h>

enum { JOBS_MOST = 64 }; /* maximum number of jobs that are queued and not yet started */

struct jobs;

/* Starts up to `threads` threads in addition to the caller's, as many as the system allows. Any of them may call `work`. Returns
 * NULL when memory runs out. */
struct jobs *jobs_start(unsigned threads, void (*work)(void *job));
/* Adds a job. At most JOBS_MOST jobs may be given and not yet taken. */
void jobs_give(struct jobs *j, void *job);
/* Waits for the oldest job and returns it; NULL if all jobs have been taken. */
void *jobs_take(struct jobs *j);
/* Adds a job that threads run before all others and that jobs_take does not return. At most JOBS_MOST such jobs may be unfinished. */
void jobs_give_first(struct jobs *j, void *job);
/* Returns the number of such jobs that are unfinished or were given after an unfinished one. */
unsigned jobs_count_first(struct jobs *j);
/* Waits until all these jobs are finished; runs jobs that have not begun. */
void jobs_finish_first(struct jobs *j);
/* Waits for running jobs and discards all that have not been taken. */
void jobs_drop(struct jobs *j);
/* Discards all jobs and ends the threads; `j` may be NULL. */
void jobs_stop(struct jobs *j);

#endif
