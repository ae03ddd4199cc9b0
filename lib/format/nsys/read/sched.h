/* sched.h - reads scheduling: which thread ran on each CPU, and the state of each thread. */
#ifndef FORMAT_NSYS_READ_SCHED_H
#define FORMAT_NSYS_READ_SCHED_H

#include "reader.h"

/* Two values of ENUM_SAMPLING_THREAD_STATE. */
enum { NSYS_UNKNOWN = 0, NSYS_RUNNING = 1 };

/* True if scheduling was requested. */
bool sched_is_wanted(const struct nsys *r);
/* Returns the name of a state of a thread that does not run. */
const char *sched_state_name(int64_t state);

/* Reads the switches, so that their threads exist before threads are named. */
bool sched_read(struct nsys *r);
/* Adds the spans. Called once threads have their names. */
bool sched_add(struct nsys *r);

#endif
